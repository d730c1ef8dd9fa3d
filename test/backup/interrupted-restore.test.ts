import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm, watch } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrel, environment, program } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

/** Names that appear in the data folder while a restore runs: when it begins with rows, and when it begins with blocks. */
const MOMENTS = [/restoring/, /^blocks\/[0-9a-f]{2}\//]
/** On a busy machine a restore can end before the notice of the file arrives. */
const MOST_ATTEMPTS = 10

it('a restore that is killed leaves a folder on which no server starts, and the same command finishes it', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  const files = new Map<string, Buffer>()
  let library = ''
  {
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    library = await ann.createLibrary('Papers')
    for (let number = 0; number < 30; number++) {
      const bytes = randomBytes(number % 2 === 0 ? 100_000 : 1000)
      await uploadFile(ann, library, `/${number}.bin`, bytes)
      files.set(`/${number}.bin`, bytes)
    }
    assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  }
  const data = path.join(folder.path, 'restored')
  await mkdir(data)
  for (const moment of MOMENTS) {
    for (
      let attempts = 1;
      !(await isKilledAt(moment, data, ['restore', target, '--data', data]));
      attempts++
    ) {
      assert.ok(attempts < MOST_ATTEMPTS, 'the restore ended before it could be killed')
      await rm(data, { recursive: true })
      await mkdir(data)
    }
    assert.ok((await readdir(data)).includes('restore-unfinished'))
    const refused = await carrel(['serve', '--port', '0', '--data', data])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr + refused.stdout, /did not finish: run the same carrel restore again/)
  }
  const finished = await carrel(['restore', target, '--data', data])
  assert.equal(finished.code, 0, finished.stderr)
  const checked = await carrel(['check', '--read-data', '--data', data])
  assert.equal(checked.code, 0, checked.stdout)
  await using server = await startServer({ data })
  const ann = await Client.signIn(server.url, 'ann@example.org', 'a long password')
  for (const [name, bytes] of files) assert.deepEqual(await download(ann, library, name), bytes, name)
})

/** Starts a command and kills it once a file whose name matches appears or changes in the folder. False if it ended before. */
async function isKilledAt(moment: RegExp, folder: string, args: readonly string[]): Promise<boolean> {
  const watching = new AbortController()
  const events = watch(folder, { recursive: true, signal: watching.signal })
  const child = spawn(process.execPath, [...program, ...args], {
    stdio: 'ignore',
    env: { ...process.env, ...environment },
  })
  const ended = once(child, 'exit').finally(() => watching.abort())
  try {
    for await (const { filename } of events) {
      if (filename !== null && moment.test(filename)) break
    }
  } catch (error) {
    if (!watching.signal.aborted) throw error
  }
  child.kill('SIGKILL')
  const [, signal] = await ended
  return signal === 'SIGKILL'
}
