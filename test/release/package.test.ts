import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { buildRelease, notesOf, noticesOf, sign } from '../../bin/release.ts'
import { findProgram } from '../../bin/system-programs.ts'
import { type ReleaseMaps, withSources } from '../../bin/trace.ts'
import { startArchive, waitForArchive } from '../../packages/conformance/archive-calls.ts'
import { Client } from '../support/client.ts'
import { markedBlocks, runScript, startByScript } from '../support/document-commands.ts'
import { makeDocx, makeXlsx } from '../support/documents/packages.ts'
import { makePdf } from '../support/documents/pdf-writer.ts'
import { findFreePort, postgresOrSkip } from '../support/postgres.ts'
import { colored, coloredPdf, svgOf } from '../support/preview-files.ts'
import { s3OrSkip } from '../support/s3.ts'
import { ADMIN } from '../support/server.ts'
import { startSmtpReceiver } from '../support/smtp-receiver.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const LARGEST_PACKAGE = 7 * 2 ** 20
const MOST_CODE_FILES = 150
/** Files that code starts as a thread or a process. */
const NAMED_FILE = /new URL\("(\.\/[\w-]+\.mjs)", import\.meta\.url\)/g
/** Static imports, and dynamic ones that are not in a comment. */
const IMPORTED = /(?:^(?:import|export)\b[^"\n]*|^[^*\n]*\bimport\()"([^"]+)"/gm
/** A data folder as 0.1.0 left it, with the secret and an account it was made with. */
const EARLIER_DATA = path.join(ROOT, 'test/fixtures/earlier-data/schema-45')
const EARLIER_SECRET = 'a secret for the fixture'
const EARLIER_ACCOUNT = { email: 'ann@example.org', password: 'a long password' }

interface BilledComponent {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly { readonly expression: string }[]
  readonly properties: readonly { readonly value: string }[]
}

describe('the package of a release', { timeout: 900_000 }, () => {
  let folder = ''
  let file = ''

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-package-'))
    file = await buildRelease(path.join(folder, 'release'))
    const [install = ''] = documented('sh run')
    const { code, output } = await runScript(install, surroundings('data'))
    assert.equal(code, 0, output)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const dataFolder = (name: string) => path.join(folder, name)
  /** Programs that are installed globally. */
  const programs = () => path.join(folder, 'global/bin')
  const inPackage = (file: string) => path.join(folder, 'global/lib/node_modules/carrel', file)

  const manifest = () =>
    JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { dependencies: Record<string, string> }

  /** The components of the bill of materials. */
  function billed() {
    const bill = readFileSync(path.join(path.dirname(file), 'sbom.cdx.json'), 'utf8')
    return (JSON.parse(bill) as { components: BilledComponent[] }).components
  }

  /** The commands of the document for this package. */
  function documented(mark: string): string[] {
    const version = /^carrel-(.+)\.tgz$/.exec(path.basename(file))?.[1] ?? ''
    return markedBlocks('docs/install.md', mark).map((commands) => commands.replaceAll('VERSION', version))
  }

  /** Working directory with the package, and an environment with a data folder and its own prefix for global packages of npm. */
  function surroundings(data: string) {
    const env = {
      ...process.env,
      PATH: `${programs()}:${process.env['PATH'] ?? ''}`,
      npm_config_prefix: path.join(folder, 'global'),
      CARREL_DATA: dataFolder(data),
    }
    return { cwd: path.dirname(file), env }
  }

  function run(command: string, args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(command, args, { ...surroundings('data'), encoding: 'utf8' })
    assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  const carrel = (...args: string[]) => run('carrel', args)
  const healthCheck = (data: string) =>
    spawnSync(process.execPath, [inPackage('deploy/health-check.mjs')], {
      env: { CARREL_DATA: dataFolder(data) },
      encoding: 'utf8',
    })

  /** The tools that `carrel mcp` offers. */
  function toolsOf({ url, token }: Client): string {
    const { cwd, env } = surroundings('data')
    const settings = {
      CARREL_CLIENT_URL: url,
      CARREL_CLIENT_TOKEN: token ?? '',
      CARREL_CLIENT_FOLDER: path.join(folder, 'client'),
    }
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ]
    const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
    const { stdout, stderr } = spawnSync('carrel', ['mcp', '--whole-account'], {
      cwd,
      env: { ...env, ...settings },
      input,
      encoding: 'utf8',
    })
    return stdout + stderr
  }

  /** The package has most files of the web app with Brotli alone. */
  async function sendsEveryCoding(url: string): Promise<void> {
    const page = await (await fetch(`${url}/app/`)).text()
    const [, script = ''] = /src="(web\/assets\/app-[^"]+)"/.exec(page) ?? []
    assert.ok(!existsSync(inPackage(script.replace('web/', 'web/dist/'))))
    const built = readFileSync(path.join(ROOT, script.replace('web/', 'web/dist/')), 'utf8')
    for (const coding of ['br', 'gzip', 'identity']) {
      const reply = await fetch(`${url}/${script}`, { headers: { 'Accept-Encoding': coding } })
      assert.equal(reply.headers.get('content-encoding'), coding === 'identity' ? null : coding)
      assert.ok((await reply.text()) === built, coding)
    }
    assert.match(await (await fetch(`${url}/web/manifest.webmanifest`)).text(), /"short_name"/)
  }

  /** Starts the server of the package on a data folder. Returns its URL. */
  async function serve(t: TestContext, data: string, settings: Record<string, string>): Promise<string> {
    const child = spawn(path.join(programs(), 'carrel'), ['serve', '--port', '0'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        CARREL_DATA: dataFolder(data),
        CARREL_UNSAFE_STORAGE: 'allow',
        ...settings,
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
      return url
    }
    return assert.fail('the server ended before it was ready')
  }

  it('is small, and comes with checksums, licences, a bill of materials and notes', () => {
    assert.ok(statSync(file).size < LARGEST_PACKAGE, `${statSync(file).size} bytes`)
    const release = path.dirname(file)
    assert.equal(spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release }).status, 0)
    const licences = readFileSync(path.join(release, 'licences.md'), 'utf8')
    assert.match(licences, /^\| pino \| [\d.]+ \| MIT \| server \|$/m)
    const names = billed().map(({ name }) => name)
    const wanted = [
      'pg',
      'pg-types',
      'react',
      '@fontsource-variable/inter',
      'typescript',
      'vite',
      'playwright-core',
    ]
    assert.deepEqual(
      wanted.filter((name) => names.includes(name)),
      ['pg', 'pg-types', 'react', '@fontsource-variable/inter'],
      'what runs, and no tools for development',
    )
  })

  it('lists exactly what its bundles contain and what npm installs in its bill of materials', () => {
    const components = billed()
    for (const { name, version, purl, licenses } of components) {
      assert.match(version, /^\d+\.\d+\.\d+/, name)
      assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`)
      assert.match(licenses?.[0]?.expression ?? '', /^\(?[A-Z\d]/, name)
    }
    const of = (part: string) =>
      components.filter(({ properties }) => properties.some(({ value }) => value === part))
    const code = globSync('src/*.mjs', { cwd: inPackage('') }).map((file) =>
      readFileSync(inPackage(file), 'utf8'),
    )
    const inCode = code.flatMap((text) =>
      [...text.matchAll(/^\/\/ node_modules\/(?:.*\/node_modules\/)?((?:@[^/\n]+\/)?[^/\n]+)\//gm)].map(
        (match) => match[1],
      ),
    )
    const server = of('server').map(({ name }) => name)
    assert.deepEqual(
      [...new Set(inCode)].filter((name) => !server.includes(name ?? '')),
      [],
    )
    assert.ok(of('web app').length > 50 && !components.some(({ name }) => name === '@napi-rs/canvas'))
    // Packages for other machines are listed, and not installed here.
    const listed = new Map(of('installed').map(({ name, version }) => [name, version]))
    const installed = globSync('**/node_modules/{[!@.]*,@*/*}/package.json', { cwd: inPackage('') }).map(
      (file) => JSON.parse(readFileSync(inPackage(file), 'utf8')) as { name: string; version: string },
    )
    assert.ok(installed.length > 10)
    for (const { name, version } of installed) assert.equal(listed.get(name), version, name)
  })

  it('lets npm choose no version of a package', () => {
    const { dependencies } = manifest()
    for (const [name, version] of Object.entries(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name)
    for (const name of ['htmlparser2', 'entities', '@xmldom/xmldom']) assert.ok(name in dependencies, name)
  })

  it('has source maps beside it, which lead from a stack trace to a line of the sources', () => {
    const packed = readFileSync(path.join(path.dirname(file), 'source-maps.json.gz'))
    const maps = JSON.parse(gunzipSync(packed).toString()) as ReleaseMaps
    assert.deepEqual(globSync('**/*.map', { cwd: inPackage('src') }), [])
    // The second file has places that the bundler replaces.
    for (const [source, code] of [
      ['src/programs/cli/serving.ts', '>= repeatedMs) process.exit(1)'],
      ['src/base/version.ts', 'readFileSync(file'],
    ] as const) {
      const lineOf = (text: string) => text.split('\n').findIndex((line) => line.includes(code)) + 1
      const name = globSync('src/*.mjs', { cwd: inPackage('') }).find((name) => {
        const text = readFileSync(inPackage(name), 'utf8')
        return text.includes(`// ${source}\n`) && lineOf(text) > 0
      })
      assert.ok(name !== undefined, source)
      const line = lineOf(readFileSync(inPackage(name), 'utf8'))
      const expected = lineOf(readFileSync(path.join(ROOT, source), 'utf8'))
      const traced = withSources(
        `{"stack":"Error: x\\n    at f (file://${inPackage(name)}:${line}:9)"}`,
        maps,
      )
      assert.match(traced, new RegExp(`at f \\(${source}:${expected}:\\d+\\)"}$`))
    }
    assert.equal(withSources('at /carrel/src/other.mjs:1:1', maps), 'at /carrel/src/other.mjs:1:1')
  })

  it('finishes its requests when systemd stops it, also if the launcher remains as its parent', async () => {
    // As a Node before 22.15, which cannot replace the launcher.
    const old = path.join(folder, 'old-node.cjs')
    writeFileSync(old, 'delete process.execve\n')
    const { cwd, env } = surroundings('stopped')
    const settings = { NODE_OPTIONS: `--require ${old}`, CARREL_UNSAFE_STORAGE: 'allow' }
    const launcher = spawn(path.join(programs(), 'carrel'), ['serve', '--port', '0'], {
      cwd,
      env: { ...env, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(launcher, 'exit')
    const lines = createInterface(launcher.stdout)[Symbol.asyncIterator]()
    const logged = async (text: string) => {
      for (let next = await lines.next(); next.done !== true; next = await lines.next())
        if (next.value.includes(text)) return
      assert.fail(`the server ended without "${text}"`)
    }
    await logged('Carrel is ready')
    const server = JSON.parse(readFileSync(path.join(dataFolder('stopped'), 'server.json'), 'utf8')) as {
      pid: number
    }
    assert.notEqual(server.pid, launcher.pid)
    // The default of systemd is to send the signal to all processes.
    if (!/^KillMode=mixed$/m.test(readFileSync(inPackage('deploy/carrel.service'), 'utf8'))) {
      process.kill(server.pid, 'SIGTERM')
      await logged('stopping')
    }
    launcher.kill('SIGTERM')
    await logged('"stopped"')
    assert.deepEqual(await exited, [0, null])
  })

  it('is a bundle that finds its own files, and imports no package that is not installed', () => {
    const { dependencies } = manifest()
    const files = globSync('src/**/*.mjs', { cwd: inPackage('') })
    assert.ok(files.includes('src/main.mjs') && files.length < MOST_CODE_FILES, `${files.length} files`)
    assert.deepEqual(globSync('{src,sdk}/**/*.ts', { cwd: inPackage('') }), [])
    const found = { files: 0, packages: new Set<string>() }
    for (const file of files) {
      const code = readFileSync(inPackage(file), 'utf8')
      for (const [, name = ''] of code.matchAll(NAMED_FILE)) {
        found.files += 1
        assert.ok(existsSync(path.join(inPackage(file), '..', name)), `${file} starts ${name}`)
      }
      for (const [, name = ''] of code.matchAll(IMPORTED)) {
        if (name.startsWith('.'))
          assert.ok(existsSync(path.join(inPackage(file), '..', name)), `${file}: ${name}`)
        else if (!isBuiltin(name)) found.packages.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
      }
    }
    assert.ok(found.files > 10, `${found.files} threads and processes`)
    assert.deepEqual(
      [...found.packages].filter((name) => !(name in dependencies)),
      [],
    )
    assert.ok('sharp' in dependencies && !('pg' in dependencies))
  })

  it('contains the licences of the packages that are part of its code', () => {
    const notices = readFileSync(inPackage('THIRD-PARTY-NOTICES.txt'), 'utf8')
    for (const text of [
      'SIL OPEN FONT LICENSE',
      'Copyright 2014 PDFium Authors',
      'Universite catholique de Louvain',
    ])
      assert.ok(notices.includes(text), text)
    for (const name of ['pg', '@aws-sdk/client-s3', 'pino', 'zod', 'react'])
      assert.match(notices, new RegExp(`(?:^|, )${name} \\d+\\.`, 'm'))
    assert.doesNotMatch(notices, /(?:^|, )(?:sharp|vite|typescript) \d/m)
    assert.match(noticesOf(['node_modules/pg']), /^pg [\d.]+\n\nMIT License\n/)
  })

  it('names the source of each part of its code, for stack traces', () => {
    const parts = globSync('src/*.mjs', { cwd: inPackage('') }).flatMap((file) =>
      readFileSync(inPackage(file), 'utf8').split('\n'),
    )
    for (const source of [
      'src/programs/cli/supervise.ts',
      'src/base/version.ts',
      'node_modules/pg/lib/client.js',
    ])
      assert.ok(parts.includes(`// ${source}`), source)
  })

  it('serves the web app and files, and previews them in its workers', async (t) => {
    const started = performance.now()
    const url = await serve(t, 'data', {
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
    })
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    const startMs = Math.round(performance.now() - started)
    t.diagnostic(`serves ${startMs} ms after the command`)
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    assert.equal((await client.get('/app/')).status, 200)
    const library = await client.createLibrary('From the package')
    const previewed = {
      'photo.heic': readFileSync(path.join(import.meta.dirname, '../fixtures/photo.heic')),
      'drawing.svg': svgOf('#ff0000'),
      'page.pdf': coloredPdf('1 0 0'),
      'picture.png': await colored('#00ff00'),
    }
    for (const [name, bytes] of Object.entries(previewed)) {
      await uploadFile(client, library, `/${name}`, bytes)
      const thumbnail = await client.get(`/api2/repos/${library}/thumbnail/`, { p: `/${name}`, size: '96' })
      assert.equal(thumbnail.status, 200, `${name}: ${thumbnail.text}`)
    }
    const texts = {
      'letter.html': '<p>An apricot</p>',
      'letter.pdf': makePdf(['An apricot']),
      'letter.docx': makeDocx(['An apricot']),
      'letter.xlsx': makeXlsx([{ name: 'Fruit', rows: [['apricot', 1]] }]),
    }
    for (const [name, content] of Object.entries(texts))
      await uploadFile(client, library, `/${name}`, content)
    await eventually(async () =>
      assert.equal((await client.get('/api2/search/', { q: 'apricot' })).body.total, 4),
    )
    const archive = await startArchive(client, library, '/', Object.keys(texts))
    await waitForArchive(client, archive)
    const zip = Buffer.from(await (await fetch(`${url}/seafhttp/zip/${archive}`)).arrayBuffer())
    assert.deepEqual([...unzip(zip).keys()].sort(), Object.keys(texts).sort())
    const credentials = Buffer.from(`${ADMIN.email}:${ADMIN.password}`).toString('base64')
    const dav = await fetch(`${url}/dav/From%20the%20package/letter.html`, {
      headers: { Authorization: `Basic ${credentials}` },
    })
    assert.equal(await dav.text(), texts['letter.html'])
    for (const name of ['/api/docs', '/api/openapi.json'])
      assert.equal((await fetch(`${url}${name}`)).status, 200, name)
    await sendsEveryCoding(url)
    const large = Buffer.alloc(20_000_000, 'carrel')
    await uploadFile(client, library, '/large', large)
    const link = await client.get(`/api2/repos/${library}/file/`, { p: '/large' })
    assert.ok(Buffer.from(await (await fetch(link.body)).arrayBuffer()).equals(large))
    const check = healthCheck('data')
    assert.equal(check.status, 0, check.stdout)
    assert.match(toolsOf(client), /"name":"/)
    const conformance = spawnSync('carrel', ['conformance', url, '--user', ADMIN.email], {
      ...surroundings('data'),
      input: `${ADMIN.password}\n`,
      encoding: 'utf8',
    })
    assert.match(conformance.stdout, / 0 different/, conformance.stdout + conformance.stderr)
  })

  it('works with PostgreSQL, an S3 service, mail and several processes', async (t) => {
    await using postgres = await postgresOrSkip(t)
    await using s3 = await s3OrSkip(t, 'ceph')
    if (postgres === undefined || s3 === undefined) return
    await using mail = await startSmtpReceiver()
    const port = await findFreePort()
    const { cwd, env } = surroundings('services')
    const settings = {
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      CARREL_DATABASE: await postgres.createDatabase(),
      CARREL_BLOCKS: `s3://${s3.bucket}/package?endpoint=${s3.endpoint}&region=${s3.region}`,
      AWS_ACCESS_KEY_ID: s3.accessKey,
      AWS_SECRET_ACCESS_KEY: s3.secretKey,
      CARREL_MAIL_URL: `smtp://127.0.0.1:${mail.port}`,
      CARREL_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CARREL_MAIL_FROM: 'Carrel <carrel@files.example.org>',
      CARREL_PROCESSES: '2',
    }
    await using server = await startByScript(`carrel serve --port ${port}`, {
      cwd,
      env: { ...env, ...settings },
    })
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary('Elsewhere')
    await uploadFile(client, library, '/note.txt', 'in the bucket')
    const link = await client.get(`/api2/repos/${library}/file/`, { p: '/note.txt' })
    assert.equal(await (await fetch(link.body)).text(), 'in the bucket')
    assert.deepEqual((await client.post('/api/v2.1/admin/test-mail/')).body.error, null)
    await mail.arrived(1)
  })

  it('is started by the commands of docs/install.md, with npx from an empty folder', async (t) => {
    const commands = documented('sh serve')
    assert.equal(commands.length, 2)
    // npx installs into the cache of npm. A new one that shares the downloaded packages leaves nothing behind, and needs no network.
    const cache = path.join(folder, 'npm-cache')
    mkdirSync(cache)
    symlinkSync(
      path.join(run('npm', ['config', 'get', 'cache']).trim(), '_cacache'),
      path.join(cache, '_cacache'),
    )
    const start = async (command: string, data: string) => {
      const { cwd, env } = surroundings(data)
      const began = performance.now()
      await using server = await startByScript(command, { cwd, env: { ...env, npm_config_cache: cache } })
      assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
      t.diagnostic(`${command.trim()}: serves after ${Math.round(performance.now() - began)} ms`)
    }
    for (const [index, command] of commands.entries()) await start(command, `started-${index}`)
    // What npx has installed is still there.
    await start(commands.at(-1) ?? '', 'started-again')
  })

  it('has a health check that fails without a server, and says why', () => {
    const check = healthCheck('data')
    assert.equal(check.status, 1)
    assert.match(check.stdout, /^no server on the data folder/)
  })

  it('opens the data of 0.1.0', async (t) => {
    for (const file of globSync('**/*.gz', { cwd: EARLIER_DATA })) {
      const to = path.join(dataFolder('earlier'), file.slice(0, -'.gz'.length))
      mkdirSync(path.dirname(to), { recursive: true })
      writeFileSync(to, gunzipSync(readFileSync(path.join(EARLIER_DATA, file))))
    }
    const url = await serve(t, 'earlier', { CARREL_SECRET: EARLIER_SECRET })
    const ann = await Client.signIn(url, EARLIER_ACCOUNT.email, EARLIER_ACCOUNT.password)
    const manifest = JSON.parse(readFileSync(path.join(EARLIER_DATA, 'manifest.json'), 'utf8')) as {
      library: string
    }
    const link = await ann.get(`/api2/repos/${manifest.library}/file/`, { p: '/note.txt' })
    assert.equal(await (await fetch(link.body)).text(), 'second\n')
  })

  it('refuses data of a newer release with one sentence, and changes nothing', () => {
    const file = path.join(dataFolder('earlier'), 'carrel.db')
    const newer = new DatabaseSync(file)
    newer.exec("insert into schema_migration (version, name, applied_at) values (9000, 'from the future', 0)")
    newer.close()
    const before = readFileSync(file)
    const { status, stdout, stderr } = spawnSync(path.join(programs(), 'carrel'), ['serve', '--port', '0'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        CARREL_DATA: dataFolder('earlier'),
        CARREL_SECRET: EARLIER_SECRET,
        CARREL_UNSAFE_STORAGE: 'allow',
      },
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(
      stdout + stderr,
      /The data has schema version 9000, and this version of Carrel knows only up to \d+\. Start the Carrel that wrote it, or a newer one/,
    )
    assert.ok(readFileSync(file).equals(before))
  })

  it('names its version in the compose file', () => {
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      version: string
    }
    const compose = readFileSync(path.join(ROOT, 'deploy/compose.yaml'), 'utf8')
    assert.ok(compose.includes(`image: carrel:${version}\n`))
    assert.match(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'), new RegExp(`^## ${version} \\(`, 'm'))
  })

  it('brings the commands along', () => {
    assert.match(carrel('--version'), /^\d+\.\d+\.\d+$/m)
    assert.match(carrel('check', '--read-data'), /: 0 findings\./)
    carrel('gc')
    carrel('usage')
    carrel('reindex')
    const target = path.join(folder, 'backup')
    carrel('backup', target)
    assert.match(carrel('backup', 'verify', target), /^Complete: 1 snapshots/)
    carrel('restore', target, '--data', dataFolder('restored'))
    assert.match(carrel('check', '--data', dataFolder('restored')), /: 0 findings\./)
  })

  /** A program whose only dependency is the SDK of the release. */
  const sdkProgram = `
    import { Carrel } from 'carrel-sdk'
    const carrel = new Carrel({ url: process.argv[2], token: process.argv[3] })
    const [library] = await carrel.libraries()
    for await (const entry of carrel.walk(library.id, '/')) console.log(entry.kind, entry.path, entry.size)
  `
  const pythonProgram = `
import sys
from carrel_client import Carrel
carrel = Carrel(sys.argv[1], sys.argv[2])
library = carrel.v2.get_repos()[0]["id"]
for path, entry in carrel.walk(library):
    print(entry["type"], path)
`

  it('has its clients beside it, which work at the server of the package', async (t) => {
    const release = path.dirname(file)
    const own = path.join(folder, 'clients')
    mkdirSync(own)
    const named = (pattern: string) => path.join(release, globSync(pattern, { cwd: release })[0] ?? '')
    const npm = [
      'install',
      '--prefix',
      own,
      '--offline',
      '--no-audit',
      '--no-fund',
      named('carrel-sdk-*.tgz'),
    ]
    run('npm', npm)
    const sdk = path.join(own, 'node_modules/carrel-sdk')
    for (const name of ['README.md', 'LICENSE']) assert.ok(existsSync(path.join(sdk, name)), name)
    for (const name of globSync('dist/*.js', { cwd: sdk })) {
      const imports = readFileSync(path.join(sdk, name), 'utf8').matchAll(/ from '([^']+)'/g)
      for (const [, imported = ''] of imports) assert.match(imported, /^\.\/[\w-]+\.js$/, name)
    }
    writeFileSync(path.join(own, 'program.mjs'), sdkProgram)
    const env = { CARREL_ADMIN_EMAIL: ADMIN.email, CARREL_ADMIN_PASSWORD: ADMIN.password }
    const url = await serve(t, 'clients-data', env)
    const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
    await uploadFile(client, await client.createLibrary('For clients'), '/a/b.txt', 'four')
    const { token = '' } = client
    assert.equal(
      run(process.execPath, [path.join(own, 'program.mjs'), url, token]),
      'dir /a 0\nfile /a/b.txt 4\n',
    )
    const python = findProgram('python3')
    if (python === undefined) return t.skip('python3 is not installed')
    const wheel = named('carrel_client-*.whl')
    // Python imports from a wheel as it is, which has the layout of an installation.
    const program = `import sys; sys.path.insert(0, sys.argv.pop(1))${pythonProgram}`
    assert.equal(run(python, ['-c', program, wheel, url, token]), 'dir /a\nfile /a/b.txt\n')
    const files = unzip(readFileSync(wheel))
    const record = [...files].find(([name]) => name.endsWith('/RECORD'))
    const lines = (record?.[1] ?? '').toString().trim().split('\n')
    assert.deepEqual(lines.map((line) => line.split(',')[0] ?? '').sort(), [...files.keys()].sort())
    for (const line of lines.filter((line) => !line.endsWith(',,'))) {
      const [name = '', hash] = line.split(',')
      const digest = createHash('sha256')
        .update(files.get(name) ?? '')
        .digest('base64url')
      assert.equal(hash, `sha256=${digest}`, name)
    }
    const sources = run('tar', ['-tzf', named('carrel_client-*.tar.gz')])
    for (const name of ['PKG-INFO', 'pyproject.toml', 'README.md', 'LICENSE', 'carrel_client/v21.py'])
      assert.match(sources, new RegExp(`^carrel_client-[\\d.]+/${name}$`, 'm'))
  })

  it('has checksums of all files, where they come from, and a signature', (t) => {
    const release = path.dirname(file)
    const files = globSync('*', { cwd: release }).filter((name) => !name.startsWith('SHA256SUMS'))
    const checked = run('sha256sum', ['--check', 'SHA256SUMS'])
    assert.deepEqual([...checked.matchAll(/^(.+): OK$/gm)].map(([, name = '']) => name).sort(), files.sort())
    const provenance = JSON.parse(readFileSync(path.join(release, 'provenance.intoto.json'), 'utf8')) as {
      subject: { name: string; digest: { sha256: string } }[]
    }
    const hashes = new Map(provenance.subject.map(({ name, digest }) => [name, digest.sha256]))
    assert.deepEqual([...hashes.keys(), 'provenance.intoto.json'].sort(), files.sort())
    for (const [name, hash] of hashes)
      assert.equal(
        createHash('sha256')
          .update(readFileSync(path.join(release, name)))
          .digest('hex'),
        hash,
      )
    if (findProgram('minisign') === undefined) return t.skip('minisign is not installed')
    const [key, publicKey] = [path.join(folder, 'carrel.key'), path.join(folder, 'carrel.pub')]
    run('minisign', ['-G', '-W', '-p', publicKey, '-s', key])
    sign(release, key)
    const verify = ['-V', '-p', publicKey, '-m', path.join(release, 'SHA256SUMS')]
    assert.match(run('minisign', verify), /Trusted comment: carrel \d/)
    writeFileSync(path.join(release, 'SHA256SUMS'), 'other', { flag: 'a' })
    assert.notEqual(spawnSync('minisign', verify).status, 0)
  })

  it('takes its notes from the newest section of the changelog', () => {
    assert.equal(
      notesOf('# Changelog\n\n## 2.0.0\n\n- new\n\n## 1.0.0\n\n- old\n'),
      '# Carrel 2.0.0\n\n- new\n',
    )
  })
})
