import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { serve } from '../support/command.ts'

const ROOT = path.join(import.meta.dirname, '../..')
/** Bit of SIGUSR1 in the masks of `/proc/PID/status`. */
const SIGUSR1 = 1n << 9n

describe('a signal', { skip: process.platform !== 'linux' && 'reads /proc' }, () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-inspector-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  /** The process and all that it started. */
  const processesOf = (pid: number): number[] => {
    const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) =>
      readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number),
    )
    return [pid, ...children.flatMap(processesOf)]
  }
  const catches = (pid: number) => {
    const mask = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return (BigInt(`0x${mask}`) & SIGUSR1) !== 0n
  }

  it('opens the inspector in no process of a server', async () => {
    await using server = await serve(['--data', path.join(folder, 'several'), '--processes', '2'])
    const processes = processesOf(server.child.pid ?? 0)
    assert.ok(processes.length >= 3)
    assert.deepEqual(processes.filter(catches), [])
    for (const pid of processes) process.kill(pid, 'SIGUSR1')
    assert.equal((await fetch(`${server.url}/api2/ping/`)).status, 200)
    assert.equal((await server.stop()).code, 0)
  })

  it('opens it neither in a program that is started without the launcher, nor in a launcher that waits for its child', async () => {
    const direct = [path.join(ROOT, 'src/main.mjs')]
    const launcher = path.join(ROOT, 'bin/carrel.cjs')
    // As with a Node that cannot replace its process.
    const waiting = [
      '-e',
      `process.execve = undefined; process.argv.splice(1, 0, ''); require(${JSON.stringify(launcher)})`,
    ]
    for (const [name, from] of Object.entries({ direct, waiting })) {
      const args = ['serve', '--port', '0', '--data', path.join(folder, name)]
      const child = spawn(process.execPath, [...from, ...args], {
        env: { ...process.env, NODE_OPTIONS: '--inspect-port=127.0.0.1:0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const errors = text(child.stderr)
      for await (const line of createInterface({ input: child.stdout })) if (line.includes('"url"')) break
      child.stdout.resume()
      for (const pid of processesOf(child.pid ?? 0)) process.kill(pid, 'SIGUSR1')
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      assert.doesNotMatch(await errors, /Debugger listening/, name)
    }
  })

  it('opens it in no process that a module starts', () => {
    const starting = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
    const without = starting.filter((file) => {
      const code = readFileSync(path.join(ROOT, file), 'utf8')
      // `fork` passes on the flags of its process unless it is given others.
      const startsNode = /execArgv:|spawn\(process\.execPath|\[\s*process\.execPath/.test(code)
      return startsNode && !code.includes("'--disable-sigusr1'")
    })
    assert.deepEqual(without, [])
  })
})
