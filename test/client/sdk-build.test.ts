import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const root = path.join(import.meta.dirname, '../..')

/** A program whose only dependency is the packed SDK. */
const program = `
import { Carrel } from 'carrel-sdk'
const carrel = new Carrel({ url: process.argv[2], token: process.argv[3] })
const [library] = await carrel.libraries()
for await (const entry of carrel.walk(library.id, '/')) console.log(entry.kind, entry.path, entry.size)
`

it('npm pack compiles the SDK to JavaScript that needs no other package', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-sdk-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => rm(folder, { recursive: true }))
  pack(folder)
  for (const file of globSync('node_modules/carrel-sdk/dist/*.js', { cwd: folder })) {
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

/** Packs a copy of `sdk/` that was never compiled, as in a fresh checkout, and unpacks it to `node_modules` of the folder. */
function pack(folder: string): void {
  const checkout = path.join(folder, 'checkout')
  mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
  const isSource = (name: string) => !/[\\/](?:dist|python)$/.test(name)
  cpSync(path.join(root, 'sdk'), path.join(checkout, 'sdk'), { recursive: true, filter: isSource })
  cpSync(path.join(root, 'tsconfig.json'), path.join(checkout, 'tsconfig.json'))
  symlinkSync(path.join(root, 'node_modules'), path.join(checkout, 'node_modules'))
  run('npm', ['pack', '--pack-destination', folder], path.join(checkout, 'sdk'))
  const [archive = ''] = globSync('carrel-sdk-*.tgz', { cwd: folder })
  run('tar', ['-xzf', archive], folder)
  renameSync(path.join(folder, 'package'), path.join(folder, 'node_modules/carrel-sdk'))
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `${error?.message ?? ''}${stdout}${stderr}`)
}
