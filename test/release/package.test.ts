import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it, type TestContext } from 'node:test'
import { buildRelease, notesOf, withJavaScriptNames } from '../../bin/release.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const LARGEST_PACKAGE = 10 * 2 ** 20

describe('the package of a release', { timeout: 900_000 }, () => {
  let folder = ''
  let file = ''

  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-package-'))
    file = buildRelease(path.join(folder, 'release'))
    writeFileSync(path.join(folder, 'package.json'), '{ "name": "empty", "private": true }')
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', file])
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  function run(command: string, args: readonly string[]): string {
    const env = { ...process.env, CARREL_DATA: path.join(folder, 'data') }
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' })
    assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  const carrel = (...args: string[]) => run(path.join(folder, 'node_modules/.bin/carrel'), args)

  async function serve(t: TestContext): Promise<Client> {
    const child = spawn(path.join(folder, 'node_modules/.bin/carrel'), ['serve', '--port', '0'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        CARREL_DATA: path.join(folder, 'data'),
        CARREL_UNSAFE_STORAGE: 'allow',
        CARREL_ADMIN_EMAIL: ADMIN.email,
        CARREL_ADMIN_PASSWORD: ADMIN.password,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    t.after(async () => {
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
    })
    for await (const line of createInterface(child.stdout)) {
      const { url } = JSON.parse(line) as { url?: string }
      if (url === undefined) continue
      child.stdout.resume()
      return Client.signIn(url, ADMIN.email, ADMIN.password)
    }
    return assert.fail('the server ended before it was ready')
  }

  it('is small, and comes with checksums, licences, a bill of materials and notes', () => {
    assert.ok(statSync(file).size < LARGEST_PACKAGE, `${statSync(file).size} bytes`)
    const release = path.dirname(file)
    assert.equal(spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release }).status, 0)
    const licences = readFileSync(path.join(release, 'licences.md'), 'utf8')
    assert.match(licences, /^\| pino \| [\d.]+ \| MIT \|$/m)
    const bill = JSON.parse(readFileSync(path.join(release, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string }[]
    }
    const names = bill.components.map(({ name }) => name)
    const wanted = ['pg', 'pg-types', 'react', 'typescript', 'vite', 'playwright-core']
    assert.deepEqual(
      wanted.filter((name) => names.includes(name)),
      ['pg', 'pg-types', 'react'],
      'what runs, and no tools for development',
    )
  })

  it('serves the web app and files, and previews them in its workers', async (t) => {
    const client = await serve(t)
    assert.equal((await client.get('/app/')).status, 200)
    const library = await client.createLibrary('From the package')
    const photo = readFileSync(path.join(import.meta.dirname, '../fixtures/photo.heic'))
    await uploadFile(client, library, '/photo.heic', photo)
    const thumbnail = await client.get(`/api2/repos/${library}/thumbnail/`, { p: '/photo.heic', size: '96' })
    assert.equal(thumbnail.status, 200, thumbnail.text)
    const large = Buffer.alloc(20_000_000, 'carrel')
    await uploadFile(client, library, '/large', large)
    const link = await client.get(`/api2/repos/${library}/file/`, { p: '/large' })
    assert.ok(Buffer.from(await (await fetch(link.body)).arrayBuffer()).equals(large))
  })

  it('brings the commands along', () => {
    assert.match(carrel('--version'), /^\d+\.\d+\.\d+$/m)
    assert.match(carrel('check', '--read-data'), /: 0 findings\./)
    carrel('gc')
  })

  it('names files by what they became', () => {
    const code = "import { a } from './release.ts'\nconst b = './unknown.ts'\nnew URL('./test-plan.ts', x)"
    assert.equal(
      withJavaScriptNames(code, 'bin'),
      "import { a } from './release.js'\nconst b = './unknown.ts'\nnew URL('./test-plan.js', x)",
    )
  })

  it('takes its notes from the newest section of the changelog', () => {
    assert.equal(
      notesOf('# Changelog\n\n## 2.0.0\n\n- new\n\n## 1.0.0\n\n- old\n'),
      '# Carrel 2.0.0\n\n- new\n',
    )
  })
})
