import assert from 'node:assert/strict'
import { chmodSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { Client } from '../support/client.ts'
import { environment, program, type Serving, serve } from '../support/command.ts'
import { markedBlocks, runProgram, runScript, startByScript } from '../support/document-commands.ts'
import { type S3Endpoint, s3OrSkip } from '../support/s3.ts'
import { testCertificates } from '../support/test-certificates.ts'
import { uploadFile } from '../support/transfer.ts'

// Commands in the documents that are marked as `sh run`, `sh serve`, `ts run` or `py run`, as a reader would run them: one page after the other, against
// one server. Commands marked as `sh serve` start a server of their own. ` s3` after the mark says that they need an S3 service.

const root = path.join(import.meta.dirname, '../..')
const ADMIN = { email: 'admin@carrel.local', password: 'a long password of the admin' }
/** In this order: later pages need what earlier ones leave behind. */
const PAGES = [
  'docs/guide-operators.md',
  'docs/client.md',
  'docs/operation.md',
  'docs/backup.md',
  'docs/checking.md',
]
const PAGES_WITH_SERVERS = ['docs/backup.md', 'docs/https.md']
const PAGES_WITH_S3_SERVERS = ['docs/storage.md']
/** From an empty machine, by `test/docs/first-minutes.test.ts`. */
const FIRST_PAGES = ['README.md', 'docs/quick-start.md']
/** What this file executes, and `test/release/package.test.ts` of the page that tells how to install. */
const EXECUTED: Readonly<Record<string, readonly string[]>> = {
  'sh run': [...FIRST_PAGES, ...PAGES, 'docs/install.md'],
  'sh serve': [...FIRST_PAGES, ...PAGES_WITH_SERVERS, 'docs/install.md'],
  'sh run s3': ['docs/backup.md'],
  'sh serve s3': PAGES_WITH_S3_SERVERS,
  'ts run': ['docs/guide-developers.md'],
  'py run': ['docs/guide-developers.md'],
}

describe('commands of the documents', { timeout: 600_000 }, () => {
  let server: Serving
  let folder = ''
  let env: Record<string, string> = {}
  /** A library with a file, for commands that name one as `ID`. */
  let library = ''

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
    // What the launcher executes, from the bundle of the test run: test/release/package.test.ts starts the launcher itself.
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const words = [process.execPath, ...program].map((word) => `"${word}"`)
    writeFileSync(carrel, `#!/bin/sh\nexec env ${[...variables, ...words].join(' ')} "$@"\n`)
    chmodSync(carrel, 0o755)
    writeFileSync(path.join(folder, 'photo.jpg'), 'not really a photo')
    writeFileSync(path.join(folder, 'backup-passphrase'), 'a long passphrase for the backup')
    writeFileSync(path.join(folder, 'files.pem'), testCertificates.one.certificate)
    writeFileSync(path.join(folder, 'files.key'), testCertificates.one.key)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    library = await client.createLibrary('Library of the documents')
    for (const name of ['Plans', 'Notes']) await client.createLibrary(name)
    await uploadFile(client, library, '/folder/file', 'content')
    env = {
      PATH: `${path.join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      CARREL_CLIENT_FOLDER: path.join(folder, 'client'),
      // The pages say how to sign in, and the first-minutes test does.
      CARREL_CLIENT_URL: server.url,
      CARREL_CLIENT_TOKEN: client.token ?? '',
      CARREL_DATA: data,
    }
  })
  after(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Commands with the address, the folders, the library and the password of this test. `data` is the folder that they call /srv/carrel. */
  function adapted(script: string, data = path.join(folder, 'data')): string {
    return script
      .replaceAll('http://127.0.0.1:8000', server.url)
      .replaceAll(/\/srv\/carrel\b|\/(?:srv|mnt|etc\/carrel|etc\/ssl)\//g, (found) =>
        found === '/srv/carrel' ? data : `${folder}/`,
      )
      .replaceAll('--library ID', `--library ${library}`)
      .replaceAll(/password=…|'…'/g, (found) => found.replace('…', ADMIN.password))
      .replaceAll(`password=${ADMIN.password}`, `'password=${ADMIN.password}'`)
  }

  for (const page of PAGES) {
    it(`work: ${page}`, async (t) => {
      if (findProgram('curl') === undefined) return t.skip('curl is not installed')
      const script = markedBlocks(page, 'sh run').join('\n')
      assert.notEqual(script, '', `${page} has no commands that are marked`)
      const { code, output } = await runScript(adapted(script), { cwd: folder, env })
      assert.equal(code, 0, output)
    })
  }

  const blocksOf = (pages: readonly string[], mark: string) =>
    pages.flatMap((page) => markedBlocks(page, mark))

  it('are executed on every page that marks some', () => {
    const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })]
    for (const [mark, executed] of Object.entries(EXECUTED)) {
      const marked = pages.filter((page) => markedBlocks(page, mark).length > 0)
      assert.deepEqual(marked.sort(), [...executed].sort(), mark)
    }
  })

  it('start servers', async (t) => {
    if (findProgram('curl') === undefined) return t.skip('curl is not installed')
    for (const [index, script] of blocksOf(PAGES_WITH_SERVERS, 'sh serve').entries()) {
      await expectServer(adapted(script), path.join(folder, `served-${index}`))
    }
  })

  it('work with S3', async (t) => {
    await using service = await s3OrSkip(t, 'ceph')
    if (service === undefined) return
    const backups = blocksOf(['docs/backup.md'], 'sh run s3').join('\n')
    const { code, output } = await runScript(adapted(withService(backups, service)), { cwd: folder, env })
    assert.equal(code, 0, output)
    const data = path.join(folder, 'served-s3')
    for (const script of blocksOf(PAGES_WITH_S3_SERVERS, 'sh serve s3')) {
      await expectServer(adapted(withService(script, service), data), data)
    }
  })

  /** Runs commands that start a server on the data folder, unless they name another, and stops it when it serves. */
  async function expectServer(script: string, data: string) {
    await using started = await startByScript(script, { cwd: folder, env: { ...env, CARREL_DATA: data } })
    // curl, because it accepts any certificate.
    const { code, output } = await runProgram('curl', ['--insecure', '-sSf', `${started.url}/readyz`], {
      cwd: folder,
      env,
    })
    assert.equal(code, 0, `${script}\n${output}`)
  }

  it('work: the script with the SDK uploads a folder with progress', async () => {
    const [script = ''] = markedBlocks('docs/guide-developers.md', 'ts run')
    const file = path.join(folder, 'upload.ts')
    const sdk = path.join(root, 'sdk/src/index.ts')
    writeFileSync(file, script.replace("'carrel-sdk'", JSON.stringify(sdk)))
    await expectUpload(process.execPath, ['--no-warnings', file])
  })

  it('work: the script with the Python client uploads a folder with progress', async (t) => {
    const python = findProgram('python3')
    if (python === undefined) return t.skip('python3 is not installed')
    const [script = ''] = markedBlocks('docs/guide-developers.md', 'py run')
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
    const { code, output } = await runProgram(command, [...args, 'tree', name], {
      cwd: folder,
      env: { ...env, CARREL_CLIENT_URL: server.url, CARREL_CLIENT_TOKEN: client.token ?? '', ...more },
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

/** Commands with the address, the bucket and the keys of an S3 service. */
function withService(script: string, { endpoint, bucket, accessKey, secretKey }: S3Endpoint): string {
  return script
    .replaceAll('https://s3.example.org', endpoint)
    .replaceAll('s3://bucket/', `s3://${bucket}/`)
    .replaceAll(/(\w+)=…/g, (_, name: string) => `${name}=${name.includes('SECRET') ? secretKey : accessKey}`)
}
