import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { builtFiles, writeFiles } from '../../bin/generate.ts'
import { findProgram } from '../../bin/system-programs.ts'
import { type Fate, startProxy } from '../client/support.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'

// The Python client in real Python programs, against a real server.

const root = path.join(import.meta.dirname, '../..')
const packageFolder = path.join(root, 'sdk/python')
const PASSWORD = 'a password for Python'

describe('the Python client', { timeout: 300_000 }, () => {
  let server: TestServer
  let folder = ''
  before(async () => {
    await writeFiles(await builtFiles())
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-python-'))
    server = await startServer()
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs a program to its end and asserts that it succeeds. */
  async function run(command: string, args: readonly string[]): Promise<string> {
    const child = spawn(command, args, {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        PYTHONPATH: packageFolder,
        MYPYPATH: packageFolder,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONUTF8: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ])
    assert.equal(code, 0, stdout + stderr)
    return stdout
  }

  const program = (name: string) => path.join(import.meta.dirname, name)

  it('does all that users do, while the server is busy and connections are lost', async (t) => {
    const python = findProgram('python3')
    if (python === undefined) return t.skip('python3 is not installed')
    const ann = await server.signUp({ password: PASSWORD })
    const bob = await server.signUp({ password: PASSWORD })
    const seen = new Map<string, number>()
    const counts = { busy: 0, lost: 0 }
    // The first request of each kind is refused. Of those that may be repeated, the second one is lost.
    const fate = (method: string, url: string): Fate => {
      const key = `${method} ${url}`
      const count = (seen.get(key) ?? 0) + 1
      seen.set(key, count)
      if (count === 1) {
        counts.busy += 1
        return 'busy'
      }
      const isUpload = url.includes('/seafhttp/upload-api/')
      if (count > 2 || (method === 'POST' && !isUpload)) return 'pass'
      counts.lost += 1
      return isUpload ? 'drop-response' : 'drop'
    }
    await using proxy = await startProxy(server.url, fate)
    const args = [program('journey.py'), proxy.url, ann.email, bob.email, PASSWORD, folder]
    const output = await run(python, args)
    assert.match(output, /^15 steps$/m)
    assert.ok(counts.busy > 20 && counts.lost > 10, JSON.stringify(counts))
  })

  it('gets results of the declared types from every call that reads', async (t) => {
    const python = findProgram('python3')
    if (python === undefined) return t.skip('python3 is not installed')
    const args = [program('every_get.py'), server.url, ADMIN.email, ADMIN.password]
    const report = JSON.parse(await run(python, args)) as Record<string, string[]>
    const sizes = Object.entries(report).map(([name, calls]) => `${calls.length} ${name}`)
    t.diagnostic(sizes.join(', '))
    for (const call of report['refused'] ?? []) t.diagnostic(`refused: ${call}`)
    for (const call of report['skipped'] ?? []) t.diagnostic(`skipped: ${call}`)
    assert.deepEqual(report['different'], [])
    assert.ok((report['matching'] ?? []).length >= 120, sizes.join(', '))
  })

  it('has types that mypy accepts without exceptions', async (t) => {
    const mypy = findProgram('mypy')
    if (mypy === undefined) return t.skip('mypy is not installed')
    const cache = path.join(folder, 'mypy')
    const targets = ['journey.py', 'every_get.py', 'declared_types.py'].map(program)
    const checked = [path.join(packageFolder, 'carrel_client'), ...targets]
    await run(mypy, ['--strict', '--python-version', '3.11', '--cache-dir', cache, ...checked])
  })
})
