import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { attempts, type Targets } from '../../../test/support/hostile-worker/attempts.ts'
import { hostilePool } from '../../../test/support/worker-pool.ts'
import { confinement } from './confinement.ts'
import { sealProblem } from './sandbox.ts'

const ROOT = path.join(import.meta.dirname, '../../..')
/** Errors of the kernel filter and of the permission model of Node, and those of resolvers that cannot create a socket. */
const REFUSALS = ['EPERM', 'errno 1', 'errno 38', 'ERR_ACCESS_DENIED', 'EAI_AGAIN', 'ECONNREFUSED']

describe('hostile code in a worker process', { skip: sealProblem() }, () => {
  let folder = ''
  let servers: Server[] = []
  let targets: Targets
  const pool = hostilePool()
  const events: string[] = []
  const onSignal = (signal: string) => events.push(signal)
  const resolver = createSocket('udp4', () => events.push('a question of a resolver'))

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-hostile-'))
    const secret = path.join(folder, 'secret')
    writeFileSync(secret, 'a secret')
    const socket = path.join(folder, 'socket')
    const overTcp = createServer().listen(0, '127.0.0.1')
    servers = [overTcp, createServer().listen(socket)]
    await Promise.all(servers.map((server) => once(server, 'listening')))
    for (const server of servers) server.on('connection', () => events.push('a connection'))
    const { port } = overTcp.address() as AddressInfo
    resolver.bind(port, '127.0.0.1')
    const c = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
    const build = `${c.header.glibcVersionRuntime === undefined ? 'musl' : 'linux'}_${process.arch}/koffi.node`
    const addon = path.join(ROOT, `node_modules/@koromix/koffi-linux-${process.arch}`, build)
    targets = { port, socket, secret, folder, addon }
    process.on('SIGUSR1', onSignal)
  })
  after(async () => {
    process.off('SIGUSR1', onSignal)
    await pool.close()
    for (const server of servers) server.close()
    resolver.close()
    rmSync(folder, { recursive: true })
  })

  for (const name of Object.keys(attempts))
    it(`cannot ${name}`, async () => {
      const outcome = await pool.run({ kind: 'attempt', name, targets })
      assert.ok('result' in outcome, JSON.stringify(outcome))
      const { refused } = outcome.result as { refused?: string }
      assert.ok(refused !== undefined && REFUSALS.includes(refused), JSON.stringify(outcome.result))
    })

  it('did nothing of what it tried', async () => {
    assert.deepEqual(events, [])
    assert.deepEqual(readdirSync(folder).sort(), ['secret', 'socket'])
  })

  it('has an empty environment, another user than root, and no descriptor of the server', async () => {
    const outcome = await pool.run({ kind: 'facts', targets })
    assert.ok('result' in outcome)
    const { descriptors, environment, user, group } = outcome.result as {
      [name: string]: unknown
      descriptors: string[]
    }
    assert.deepEqual(environment, [])
    if (process.getuid?.() === 0) assert.deepEqual([user, group], [65_534, 65_534])
    const known = /^(?:socket:\[|pipe:\[|anon_inode:\[event|\/dev\/null$|\/proc\/\d+\/statm$)/
    assert.deepEqual(
      descriptors.filter((target) => !known.test(target)),
      [],
    )
    // The three pipes to the server. The other pipes are those of its own event loops.
    assert.equal(descriptors.filter((target) => target.startsWith('socket:')).length, 3)
  })

  it('is what the probe reports', async () => {
    const found = await confinement()
    assert.deepEqual(found, {
      opensFiles: false,
      connects: false,
      signals: false,
      user: process.getuid?.() === 0 ? 65_534 : process.getuid?.(),
      problem: undefined,
    })
  })
})
