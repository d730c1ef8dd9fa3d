import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'

import { definitions, kebab } from '../../src/base/config/settings.ts'

const root = path.join(import.meta.dirname, '../..')

/** Stands for the server: says what it was started with, then ends when told to. */
const program = `
  process.on('SIGTERM', () => process.exit(7))
  console.log('up', process.argv.slice(2).join(' '), process.versions.node.split('.')[0], ...process.execArgv)
  if (process.argv.includes('end')) process.exit(3)
  setInterval(() => {}, 1000)
`
/** Stands for the commands: says what it and Node were started with. */
const commands = `
  export function run(args: string[]) {
    console.log(...args, ...process.execArgv)
    return 3
  }
`
/** Makes the running Node look like an old one, which cannot become another program. */
const pretendOld = `
  Object.defineProperty(process.versions, 'node', { value: '20.20.2' })
  delete process.execve
`

describe('the carrel command', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'carrel-launcher-'))
    await cp(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true })
    await mkdir(path.join(folder, 'src'))
    await writeFile(path.join(folder, 'package.json'), '{"type": "module"}')
    await writeFile(path.join(folder, 'src/main.mjs'), program)
    await writeFile(path.join(folder, 'old.cjs'), pretendOld)
  })
  const children: ChildProcess[] = []
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })

  const start = (options: { old: boolean }, ...args: string[]) => {
    const preload = options.old ? ['--require', path.join(folder, 'old.cjs')] : []
    const script = path.join(folder, 'bin/carrel.cjs')
    const child = spawn(process.execPath, [...preload, script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    return child
  }
  const withRuntime = () => symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const withoutRuntime = () => rm(path.join(folder, 'node_modules'), { force: true })

  it('passes secrets on by a variable, so that others on the machine do not see them', async () => {
    const secrets = [
      '--admin-password',
      'hush 1',
      '--secret=hush2',
      '--database',
      'postgres://ann:hush3@db/x',
    ]
    const child = start({ old: false }, 'serve', ...secrets, 'end')
    const shown = await text(child.stdout)
    assert.match(
      shown,
      /^up serve --admin-password \*\*\* --secret=\*\*\* --database postgres:\/\/ann:\*\*\*@db\/x end /,
    )
  })

  it('knows the secrets among the settings', () => {
    const { hasSecrets } = createRequire(import.meta.url)('../../bin/hand-over.cjs') as {
      hasSecrets: (args: string[]) => boolean
    }
    for (const [key, definition] of Object.entries(definitions)) {
      const flag = `--${kebab(key)}`
      const isSecret = 'secret' in definition && definition.secret === true
      const isUrl = key === 'database' || key === 'mailUrl'
      const value = isUrl ? 'smtp://ann:hush@host' : 'hush'
      assert.equal(hasSecrets([flag, value]), isSecret, flag)
      assert.equal(hasSecrets([`${flag}=${value}`]), isSecret, flag)
      if (isUrl) assert.ok(!hasSecrets([flag, 'postgres://ann@host/carrel?application_name=a:b@c']), flag)
    }
  })

  for (const old of [false, true]) {
    const from = old ? 'an old Node' : 'a Node that will do'
    it(`passes arguments and the exit code on, from ${from}`, async () => {
      await withRuntime()
      const child = start({ old }, 'serve', 'end')
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      await withoutRuntime()
      assert.equal(output, 'up serve end 24 --disable-sigusr1 --max-semi-space-size=16 --expose-gc\n')
      assert.equal(code, 3)
    })

    it(`passes signals on, from ${from}`, async () => {
      await withRuntime()
      const child = start({ old }, 'serve')
      await once(child.stdout, 'data')
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      await withoutRuntime()
      assert.equal(code, 7)
    })
  }

  for (const [how, preload] of [
    ['as itself', []],
    ['as a child', ['--require', './no-execve.cjs']],
  ] as const) {
    it(`is what main.mjs starts ${how} when it is run by its own name`, async () => {
      const own = await mkdtemp(path.join(tmpdir(), 'carrel-launcher-'))
      await cp(path.join(root, 'bin'), path.join(own, 'bin'), { recursive: true })
      await cp(path.join(root, 'src/main.mjs'), path.join(own, 'src/main.mjs'))
      await cp(
        path.join(root, 'src/programs/cli/node-version.ts'),
        path.join(own, 'src/programs/cli/node-version.ts'),
      )
      await writeFile(path.join(own, 'src/programs/cli/run.ts'), commands)
      await writeFile(path.join(own, 'no-execve.cjs'), 'delete process.execve')
      const args = [...preload, '--no-warnings', 'src/main.mjs', 'serve']
      const child = spawn(process.execPath, args, { cwd: own, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      await rm(own, { recursive: true })
      assert.equal(
        output,
        `${['serve', ...preload, '--no-warnings', '--disable-sigusr1', '--max-semi-space-size=16', '--expose-gc'].join(' ')}\n`,
      )
      assert.equal(code, 3)
    })
  }

  it('says what to do where an old Node is all there is', async () => {
    const child = start({ old: true }, 'serve')
    const [message, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    assert.match(message, /^Carrel needs Node\.js 24\.16 or newer: .*\.\n$/)
    assert.equal(code, 1)
  })
})

/** Stands for the server: waits for signals as it does. `twice` gets two of them at once, as from a parent and from a terminal. */
const waiting = `
  const { untilSignal } = await import(${JSON.stringify(path.join(root, 'src/programs/cli/serving.ts'))})
  const stopped = untilSignal({ info: (fields) => console.log('stopping', Object.values(fields)[0]) })
  console.log('up', process.pid, process.ppid)
  const alive = setInterval(() => {}, 1000)
  if (process.argv.includes('twice')) for (const signal of ['SIGTERM', 'SIGTERM']) process.emit(signal)
  await stopped
  console.log('stopped')
  clearInterval(alive)
`

describe('a server that npm started', { skip: process.platform === 'win32' }, () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'carrel-npm-'))
    await cp(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true })
    await mkdir(path.join(folder, 'src'))
    await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    const scripts = { start: 'node bin/carrel.cjs serve' }
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }))
    await writeFile(path.join(folder, 'src/main.mjs'), waiting)
    await writeFile(path.join(folder, 'old.cjs'), pretendOld)
  })
  const servers: number[] = []
  after(async () => {
    for (const pid of servers) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL')
    await rm(folder, { recursive: true })
  })

  interface Started {
    readonly child: ChildProcess
    /** Of the server. */
    readonly parent: number
    /** All lines until the last process has ended. */
    readonly output: Promise<string>
  }

  async function start(command: string, args: readonly string[], env = {}): Promise<Started> {
    // A process group of its own, as with a supervisor of services.
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    let output = ''
    const ended = Promise.withResolvers<string>()
    const up = Promise.withResolvers<{ pid: number; parent: number }>()
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part
      const [, pid, parent] = /^up (\d+) (\d+)$/m.exec(output) ?? []
      if (pid !== undefined) up.resolve({ pid: Number(pid), parent: Number(parent) })
    })
    child.stdout.on('end', () => {
      ended.resolve(output)
      up.reject(new Error(`it did not start: ${output}`))
    })
    const { pid, parent } = await up.promise
    servers.push(pid)
    return { child, parent, output: ended.promise }
  }

  const old = () => ({ NODE_OPTIONS: `--require ${path.join(folder, 'old.cjs')}` })
  const npm = () => start('npm', ['start', '--silent'])

  // Not SIGINT: dash, the shell of npm on Debian, keeps it until its command has ended.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
    it(`stops when npm gets ${signal}`, async () => {
      const { child, output } = await npm()
      child.kill(signal)
      assert.match(await output, /stopping (?:parent|SIG\w+)\nstopped\n$/)
    })
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`stops when the whole group gets ${signal}`, async () => {
      const { child, output } = await npm()
      process.kill(-(child.pid ?? 0), signal)
      assert.match(await output, /stopping (?:parent|SIG\w+)\nstopped\n$/)
    })
  }

  it('stops when the launcher that remains as its parent is killed', async () => {
    const { child, parent, output } = await start(process.execPath, ['bin/carrel.cjs', 'serve'], old())
    assert.equal(parent, child.pid)
    child.kill('SIGKILL')
    assert.match(await output, /stopping parent\nstopped\n$/)
  })

  it('takes a signal that its parent passes on for the one it has got', async () => {
    const { output } = await start(process.execPath, ['bin/carrel.cjs', 'serve', 'twice'], old())
    assert.match(await output, /stopping SIGTERM\nstopped\n$/)
  })
})

/** Stands for npm: says what it was started with, and installs a package that stands for the build tool. */
const fakeNpm = `#!/bin/sh
echo "npm $*"
mkdir -p node_modules/vite/bin web/dist
echo "console.log('vite', ...process.argv.slice(2))" > node_modules/vite/bin/vite.js
`

describe('what npm start installs', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'carrel-setup-'))
    await cp(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true })
    for (const name of ['src', 'web']) await mkdir(path.join(folder, name))
    await writeFile(path.join(folder, 'package.json'), '{"type": "module"}')
    await writeFile(path.join(folder, 'package-lock.json'), '{"packages": {"": {}, "left-out": {}}}')
    await writeFile(path.join(folder, 'web/index.html'), 'first')
    await writeFile(path.join(folder, 'npm'), fakeNpm, { mode: 0o755 })
    for (const file of ['src/main.mjs', 'bin/test.ts', 'bin/check.ts', 'bin/build-wasm.ts']) {
      await writeFile(path.join(folder, file), `console.log('${file}')`)
    }
  })
  after(() => rm(folder, { recursive: true }))

  /** The commands that a task runs, without options that are always the same. */
  async function commandsOf(task: string): Promise<string[]> {
    const { npm_execpath: _npm, ...env } = process.env
    const child = spawn(process.execPath, [path.join(folder, 'bin/setup.cjs'), task], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...env, PATH: `${folder}${path.delimiter}${env['PATH']}` },
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
    const always = ' --ignore-scripts --no-audit --no-fund --include=optional'
    return output
      .split('\n')
      .filter((line) => /^(?:npm|vite|src|bin)/.test(line))
      .map((line) => line.replace(always, ''))
  }

  it('is what builds the web app, which goes afterwards, and what the server needs, which stays', async () => {
    assert.deepEqual(await commandsOf('serve'), [
      'npm ci --omit=dev',
      'vite build --logLevel warn',
      'npm prune --omit=dev --workspaces=false',
      'src/main.mjs',
    ])
    assert.deepEqual(await commandsOf('serve'), ['src/main.mjs'])
  })

  it('is installed once more with the build tools when the web app has changed', async () => {
    await writeFile(path.join(folder, 'web/index.html'), 'second')
    assert.deepEqual(await commandsOf('serve'), [
      'npm ci --omit=dev',
      'vite build --logLevel warn',
      'npm prune --omit=dev --workspaces=false',
      'src/main.mjs',
    ])
  })

  it('is completed by npm test, and then left as it is', async () => {
    assert.deepEqual(await commandsOf('test'), ['npm ci --include=dev', 'bin/test.ts'])
    assert.deepEqual(await commandsOf('check'), ['bin/check.ts'])
    assert.deepEqual(await commandsOf('wasm'), ['bin/build-wasm.ts'])
    await writeFile(path.join(folder, 'web/index.html'), 'third')
    assert.deepEqual(await commandsOf('serve'), ['vite build --logLevel warn', 'src/main.mjs'])
    await writeFile(path.join(folder, 'package-lock.json'), '{"packages": {"": {}, "another": {}}}')
    assert.deepEqual(await commandsOf('serve'), [
      'npm ci --include=dev',
      'vite build --logLevel warn',
      'src/main.mjs',
    ])
  })
})
