import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { Client } from '../support/client.ts'
import { type Serving, serve } from '../support/command.ts'

// Commands in the documents that are marked as `sh run`, `ts run` or `py run`, as a reader would run them: one page after the other, against one server.

const root = path.join(import.meta.dirname, '../..')
const ADMIN = { email: 'admin@carrel.local', password: 'a long password of the admin' }
const PAGES = ['docs/quick-start.md', 'README.md', 'docs/guide-operators.md', 'docs/client.md']

describe('commands of the documents', { timeout: 300_000 }, () => {
  let server: Serving
  let folder = ''
  let env: Record<string, string> = {}

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-docs-'))
    const data = path.join(folder, 'data')
    const settings = {
      CARREL_DATA: data,
      CARREL_UNSAFE_STORAGE: 'allow',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
    }
    server = await serve([], { env: settings })
    mkdirSync(path.join(folder, 'bin'))
    const carrel = path.join(folder, 'bin/carrel')
    writeFileSync(
      carrel,
      `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, 'bin/carrel.cjs')}" "$@"\n`,
    )
    chmodSync(carrel, 0o755)
    writeFileSync(path.join(folder, 'photo.jpg'), 'not really a photo')
    env = {
      PATH: `${path.join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      CARREL_CLIENT_FOLDER: path.join(folder, 'client'),
      CARREL_DATA: data,
    }
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  async function run(command: string, args: readonly string[], more = {}) {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ])
    return { code, output: stdout + stderr }
  }

  for (const page of PAGES) {
    it(`work: ${page}`, async (t) => {
      if (findProgram('curl') === undefined) return t.skip('curl is not installed')
      const script = fences(page, 'sh run').join('\n')
      assert.notEqual(script, '', `${page} has no commands that are marked`)
      const adapted = script
        .replaceAll('http://127.0.0.1:8000', server.url)
        .replaceAll(/password=…|'…'/g, (found) => found.replace('…', ADMIN.password))
        .replaceAll(`password=${ADMIN.password}`, `'password=${ADMIN.password}'`)
      const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', adapted])
      assert.equal(code, 0, output)
    })
  }

  it('work: the script with the SDK uploads a folder with progress', async () => {
    const [script = ''] = fences('docs/guide-developers.md', 'ts run')
    const file = path.join(folder, 'upload.ts')
    const sdk = path.join(root, 'sdk/src/index.ts')
    writeFileSync(file, script.replace("'carrel-sdk'", JSON.stringify(sdk)))
    await expectUpload(process.execPath, ['--no-warnings', file])
  })

  it('work: the script with the Python client uploads a folder with progress', async (t) => {
    const python = findProgram('python3')
    if (python === undefined) return t.skip('python3 is not installed')
    const [script = ''] = fences('docs/guide-developers.md', 'py run')
    const file = path.join(folder, 'upload.py')
    writeFileSync(file, script)
    await expectUpload(python, ['-B', file], { PYTHONPATH: path.join(root, 'sdk/python') })
  })

  /** Runs a script that uploads a folder to a library, and compares both. */
  async function expectUpload(command: string, args: readonly string[], more = {}) {
    mkdirSync(path.join(folder, 'tree/a/b'), { recursive: true })
    writeFileSync(path.join(folder, 'tree/top.txt'), 'top')
    writeFileSync(path.join(folder, 'tree/a/b/deep.txt'), 'deep')
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const name = `Uploaded by ${path.basename(args.at(-1) ?? '')}`
    const library = await client.createLibrary(name)
    const { code, output } = await run(command, [...args, 'tree', name], {
      CARREL_CLIENT_URL: server.url,
      CARREL_CLIENT_TOKEN: client.token,
      ...more,
    })
    assert.equal(code, 0, output)
    assert.match(output, /deep\.txt 4 of 4 bytes/)
    const listed = await client.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1, t: 'f' })
    const paths = listed.body.dirent_list.map((entry: { parent_dir: string; name: string }) =>
      path.posix.join(entry.parent_dir, entry.name),
    )
    assert.deepEqual(paths.sort(), ['/a/b/deep.txt', '/top.txt'])
  }
})

/** The contents of code blocks with this mark. */
function fences(page: string, mark: string): string[] {
  const source = readFileSync(path.join(root, page), 'utf8')
  return [...source.matchAll(new RegExp(`^\`\`\`${mark}$([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  )
}
