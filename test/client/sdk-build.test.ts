import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const root = path.join(import.meta.dirname, '../..')

/** A program of somebody who has only the compiled SDK. */
const program = `
import { Carrel } from './sdk/index.js'
const carrel = new Carrel({ url: process.argv[2], token: process.argv[3] })
const [library] = await carrel.libraries()
for await (const entry of carrel.walk(library.id, '/')) console.log(entry.kind, entry.path, entry.size)
`

it('the SDK compiles to JavaScript that needs no other package', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-sdk-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', path.join(root, 'sdk'), '--outDir', path.join(folder, 'sdk')]
  const built = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(built.status, 0, built.stdout + built.stderr)
  for (const file of globSync('sdk/*.js', { cwd: folder })) {
    const imports = [...readFileSync(path.join(folder, file), 'utf8').matchAll(/ from '([^']+)'/g)]
    for (const [, name = ''] of imports) assert.match(name, /^\.\/[\w-]+\.js$/, file)
  }

  await using server = await startServer()
  const client = await server.signUp()
  await uploadFile(client, await client.createLibrary(), '/a/b.txt', 'four')
  await writeFile(path.join(folder, 'program.mjs'), program)
  // Not synchronously: the server is in this process.
  const script = [path.join(folder, 'program.mjs'), client.url, client.token ?? '']
  const { stdout } = await promisify(execFile)(process.execPath, script)
  assert.equal(stdout, 'dir /a 0\nfile /a/b.txt 4\n')
})
