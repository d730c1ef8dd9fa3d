import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { type ChildServerOptions, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { ADMIN } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'

const LARGE = 200_000

/** A server with faults, and a function that uploads a file large enough for a block file. */
async function withServer(
  disk: string,
  options: ChildServerOptions,
  work: (parts: {
    injector: FaultInjector
    server: Awaited<ReturnType<typeof spawnServer>>
    upload: (name: string) => Promise<number>
  }) => Promise<void>,
): Promise<void> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-folders-'))
  try {
    await using injector = await FaultInjector.create(data)
    await using server = await spawnServer(
      data,
      { ...injector.env, CARREL_DISK: disk, CARREL_LOG: 'fatal' },
      options,
    )
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const link = await uploadLink(client, await client.createLibrary())
    const upload = async (filename: string) =>
      (await postForm(link, [['parent_dir', '/'], { filename, bytes: randomBytes(LARGE) }])).status
    await work({ injector, server, upload })
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

describe('flushing a folder of blocks', { skip: cannotBuildShim() }, () => {
  for (const disk of ['plain', 'fast']) {
    for (const effect of ['EMFILE', 'ENFILE', 'EIO'] as const) {
      it(`survives ${effect} when the folder is opened, with the ${disk} store`, async () => {
        // Few descriptors: not all folders stay open.
        await withServer(disk, { openFiles: 200 }, async ({ injector, upload }) => {
          const fault = injector.inject({
            operations: ['open'],
            path: 'blocks/[0-9a-f][0-9a-f]',
            effect,
            count: 2,
          })
          const statuses = []
          for (let n = 0; fault.hits < 2; n += 1) statuses.push(await upload(`during ${n}.bin`))
          // A lack of descriptors is waited out.
          if (effect !== 'EIO') assert.deepEqual(new Set(statuses), new Set([200]))
          assert.equal(await upload('after.bin'), 200)
        })
      })
    }

    it(`ends the process when it fails, with the ${disk} store`, async () => {
      await withServer(disk, {}, async ({ injector, server, upload }) => {
        const ended = once(server.process, 'exit')
        const fault = injector.inject({
          operations: ['syncFolder'],
          path: 'blocks/*',
          effect: 'EIO',
          count: 1,
        })
        await assert.rejects(async () => assert.notEqual(await upload('lost.bin'), 200))
        await ended
        assert.equal(fault.hits, 1)
      })
    })
  }

  it('needs no descriptor while clients hold all that are left to them', async () => {
    await withServer('fast', { openFiles: 400 }, async ({ server, upload }) => {
      const port = Number(new URL(server.url).port)
      const sockets: Socket[] = []
      for (let n = 0; n < 420; n += 1) {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        sockets.push(socket)
      }
      try {
        for (let n = 0; n < 20; n += 1) assert.equal(await upload(`${n}.bin`), 200)
      } finally {
        for (const socket of sockets) socket.destroy()
      }
    })
  })
})
