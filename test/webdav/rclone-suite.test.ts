import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { isLong } from '../support/tier.ts'

const exec = promisify(execFile)
const SECRET = 'davSecret-1'
const GO_PATH = '/usr/share/gocode'
const SOURCE = path.join(GO_PATH, 'src/github.com/rclone/rclone')

const VENDORS = ['owncloud', 'nextcloud']
/**
 * Packages of rclone with tests that run against any remote, and how many of them pass at least. Only the backend knows the vendor, so
 * the others run with one of them.
 */
const SUITES = [
  { name: 'backend/webdav', passed: 60, args: ['-test.run', 'TestIntegration$'], vendors: VENDORS },
  { name: 'fs/operations', passed: 120, args: [], vendors: isLong ? VENDORS : ['owncloud'] },
  { name: 'fs/sync', passed: 90, args: [], vendors: isLong ? VENDORS : ['nextcloud'] },
]
/** rclone writes what no name may have as other characters, if it is told so; `docs/webdav.md` says it. */
const ENCODING = 'Slash,BackSlash,Del,Ctl,InvalidUtf8,Dot'

/** Only what the tests use. Other backends need packages that Debian does not have. */
const BACKENDS = ['local', 'memory', 'onedrive', 'webdav']
  .map((name) => `_ "github.com/rclone/rclone/backend/${name}"`)
  .join('; ')

describe('the tests of rclone', { timeout: 900_000 }, () => {
  const go = findProgram('go')
  const isMissing = go === undefined || !existsSync(SOURCE)
  let server: TestServer
  let folder = ''
  before(async () => {
    if (isMissing) return
    server = await startServer()
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-rclone-suite-'))
    const user = await server.signUp({ email: 'dav@example.org' })
    await user.put('/api/v2.1/webdav-secret/', { form: { secret: SECRET } })
    await user.createLibrary('Tests')
    const { stdout: pass } = await exec(findProgram('rclone') ?? '', ['obscure', SECRET])
    const remotes = VENDORS.map(
      (vendor) =>
        `[${vendor}]\ntype = webdav\nvendor = ${vendor}\nurl = ${server.url}/dav/Tests/\nuser = ${user.email}\npass = ${pass}\nencoding = ${ENCODING}\n`,
    )
    await writeFile(path.join(folder, 'rclone.conf'), remotes.join(''))
    // The tests look for servers that they could start themselves.
    await mkdir(path.join(folder, 'fstest/testserver/init.d'), { recursive: true })
  })
  after(async () => {
    if (isMissing) return
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  /** Compiles the tests of a package, without backends that Debian lacks packages for, and with those that Debian disables. */
  async function compile(name: string): Promise<string> {
    const replaced: Record<string, string> = {}
    for (const file of await readdir(path.join(SOURCE, name))) {
      if (!file.endsWith('_test.go')) continue
      const original = path.join(SOURCE, name, file)
      const changed = path.join(folder, `${path.basename(name)}-${file}`)
      const text = await readFile(original, 'utf8')
      await writeFile(
        changed,
        text
          .replace(/_ "github\.com\/rclone\/rclone\/backend\/all".*/, BACKENDS)
          .replace(/^\s*t\.Skip\("no configuration available.*\n/gm, ''),
      )
      replaced[original] = changed
    }
    const overlay = path.join(folder, `${path.basename(name)}.json`)
    await writeFile(overlay, JSON.stringify({ Replace: replaced }))
    const program = path.join(folder, `${path.basename(name)}.test`)
    const env = { ...process.env, GOPATH: GO_PATH, GO111MODULE: 'off', CGO_ENABLED: '0' }
    await exec(go ?? '', ['test', '-c', '-vet=off', '-overlay', overlay, '-o', program, `./${name}`], {
      cwd: SOURCE,
      env,
    })
    return program
  }

  for (const { name, passed, args, vendors } of SUITES) {
    it(`of ${name} pass with the vendor ${vendors.join(' and with ')}`, async (t) => {
      if (isMissing) return t.skip('the sources of rclone are not installed')
      const program = await compile(name)
      for (const vendor of vendors) {
        const options = {
          cwd: folder,
          env: { ...process.env, RCLONE_CONFIG: path.join(folder, 'rclone.conf') },
          maxBuffer: 2 ** 26,
        }
        const { stdout } = await exec(program, ['-test.v', '-remote', `${vendor}:`, ...args], options).catch(
          ({ stdout: said }: { stdout: string }) =>
            assert.fail(
              `${vendor}: ${said.match(/^.*(?:--- FAIL|Error Trace:)(?:(?!=== RUN)[^]){0,600}/gm)?.join('\n')}`,
            ),
        )
        const count = stdout.match(/--- PASS/g)?.length ?? 0
        assert.ok(count >= passed, `${vendor}: ${count}`)
      }
      return undefined
    })
  }
})
