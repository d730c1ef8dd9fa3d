import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { Client } from '../support/client.ts'
import { type CodeBlock, codeBlocks, runProgram, startByScript } from '../support/document-commands.ts'
import { personalToken } from '../support/tokens.ts'

// The first minutes of a newcomer: the commands of README.md and docs/quick-start.md, in order and as they are written, in a new copy of the
// sources, with an empty home folder. `PATH` has Node, npm, a shell and its usual programs, and nothing of ours.

const ROOT = path.join(import.meta.dirname, '../..')
const ADDRESS = 'http://127.0.0.1:8000'
const PROGRAMS = ['npm', 'npx', 'sh', 'bash', 'env', 'curl', 'grep', 'cut', 'tr', 'cat', 'mkdir']
/** Used by one block each, which is left out where they are not installed. */
const OTHER_PROGRAMS = ['rclone', 'git']
/** What blocks begin with that are not executed, and why not. */
const NOT_EXECUTED: Readonly<Record<string, string>> = {
  'npm test': 'it is what runs this test',
  'npx --yes --package ./carrel-VERSION.tgz': 'test/release/package.test.ts does',
  'carrel conformance ': 'test/release/package.test.ts does',
  'seaf-cli ': 'test/sync has two real clients',
  'carrel import seafile ': 'test/import has installations to import',
}

describe('the first minutes', { timeout: 900_000 }, () => {
  let folder = ''
  let checkout = ''
  let home = ''
  let env: Record<string, string> = {}

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-first-minutes-'))
    checkout = path.join(folder, 'carrel')
    home = path.join(folder, 'home')
    copySources(checkout)
    for (const name of ['Pictures', 'Documents']) {
      mkdirSync(path.join(home, name), { recursive: true })
      writeFileSync(path.join(home, name, 'one.jpg'), `a file in ${name}`)
    }
    // Downloaded packages are shared, so that the test needs no network.
    const cache = await runProgram('npm', ['config', 'get', 'cache'], { cwd: ROOT, env: process.env })
    mkdirSync(path.join(home, '.npm'))
    // Warnings may be around it.
    const downloaded = cache.output.split('\n').find((line) => path.isAbsolute(line)) ?? ''
    symlinkSync(path.join(downloaded, '_cacache'), path.join(home, '.npm/_cacache'))
    const bin = path.join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(process.execPath, path.join(bin, 'node'))
    for (const name of [...PROGRAMS, ...OTHER_PROGRAMS]) {
      const file = findProgram(name)
      if (file !== undefined) symlinkSync(file, path.join(bin, name))
    }
    // The registry and the certificates that npm has been told of.
    const npm = Object.entries(process.env).filter(([name]) => /^(?:npm_config_|NODE_EXTRA_CA)/i.test(name))
    env = {
      ...(Object.fromEntries(npm) as Record<string, string>),
      HOME: home,
      PATH: bin,
      LANG: 'C.UTF-8',
      // The folder of the test may be in memory.
      CARREL_UNSAFE_STORAGE: 'allow',
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const blocksOf = (page: string) => {
    const blocks = codeBlocks(page)
    const marked = blocks.filter(({ mark }) => mark === 'sh run' || mark === 'sh serve')
    const reasons = Object.keys(NOT_EXECUTED)
    const others = blocks.filter((block) => !marked.includes(block))
    for (const { code } of others)
      assert.ok(
        reasons.some((start) => code.startsWith(start)),
        `${page}: nobody executes ${code}`,
      )
    return marked.filter(({ code }) =>
      OTHER_PROGRAMS.every(
        (name) => !code.startsWith(name) || existsSync(path.join(env['PATH'] ?? '', name)),
      ),
    )
  }

  for (const page of ['README.md', 'docs/quick-start.md']) {
    it(`work as they are written: ${page}`, async (t) => {
      if (findProgram('curl') === undefined) return t.skip('curl is not installed')
      const [start, ...blocks] = blocksOf(page)
      assert.equal(start?.mark, 'sh serve')
      const server = await startByScript(start.code, { cwd: checkout, env })
      try {
        const password = passwordOf(path.join(checkout, 'data'))
        const secret = await personalTokenOf(server.url, password)
        const script = blocks.map((block) => adapted(block, server.url, password, secret)).join('\n')
        const { code, output } = await runBash(`shopt -s expand_aliases\n${script}`)
        assert.equal(code, 0, output)
        for (const expected of EXPECTED[page] ?? []) assert.match(output, expected)
      } finally {
        await server[Symbol.asyncDispose]()
      }
      await assert.rejects(fetch(server.url), 'the server has ended')
    })
  }

  const EXPECTED: Readonly<Record<string, readonly RegExp[]>> = {
    'README.md': [/Signed in at/, /"tools":\[/, /Imported 1 files/],
    'docs/quick-start.md': [/day one/],
  }

  /** Generated at the first start. The file goes with the first sign-in. */
  let generated = ''
  function passwordOf(data: string): string {
    const file = path.join(data, 'admin-password.txt')
    if (existsSync(file)) generated = /^Password: (\S+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? ''
    return generated
  }

  async function personalTokenOf(url: string, password: string): Promise<string> {
    const client = await Client.signIn(url, 'admin@carrel.local', password)
    const { token = '' } = await personalToken(client, { permission: 'rw' })
    return token
  }

  /** A block with the address, the password and the token of this test, and with what a person would type. */
  function adapted({ code }: CodeBlock, url: string, password: string, token: string): string {
    const input = path.join(folder, 'typed')
    const isMcp = code.includes('carrel mcp')
    const file = isMcp ? `${input}-messages` : input
    writeFileSync(file, isMcp ? MCP_MESSAGES : `${password}\n`)
    const text = code
      .replaceAll(ADDRESS, url)
      .replaceAll('https://cloud.example.org/remote.php/dav/files/ann/', `${url}/dav/Plans/`)
      .replaceAll('--user ann@example.org', '--user admin@carrel.local')
      .replaceAll('--user ann\n', '--user admin@carrel.local\n')
      .replaceAll('CARREL_CLIENT_TOKEN=…', `CARREL_CLIENT_TOKEN=${token}`)
      .replaceAll('user=… pass=…', `user=admin@carrel.local 'pass=${password}'`)
      .replaceAll('-d password=…', `-d 'password=${password}'`)
      .replaceAll("'…'", `'${password}'`)
    return `exec < '${file}'\n${text}`
  }

  async function runBash(script: string) {
    writeFileSync(path.join(checkout, 'photo.jpg'), 'not really a photo')
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: checkout,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        output += part
      })
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }
})

const MCP_MESSAGES = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list' },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join('')

/** The sources as git has them, and the web app that the test run has built: the first start would take half a minute for it. */
function copySources(to: string): void {
  const patterns = readFileSync(path.join(ROOT, '.gitignore'), 'utf8').split('\n').filter(Boolean)
  const isIgnored = (file: string) =>
    patterns.some((pattern) => {
      const name = pattern.replace(/^\/|\/$/g, '')
      const isAnchored = pattern.replace(/\/$/, '').includes('/')
      return path.matchesGlob(file, isAnchored ? name : `**/${name}`)
    })
  cpSync(ROOT, to, {
    recursive: true,
    filter: (source) => {
      const file = path.relative(ROOT, source)
      if (file === 'web/dist' || file.startsWith(path.join('web/dist', path.sep))) return true
      return file !== '.git' && !isIgnored(file)
    },
  })
}
