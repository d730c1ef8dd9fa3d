import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findProgram } from '../../bin/system-programs.ts'
import { findFreePort } from './postgres.ts'

const SCALING = path.join(import.meta.dirname, '../../docs/scaling.md')

/** Starts a proxy with the configuration of docs/scaling.md, for nodes on this machine. */
export async function startReverseProxy(
  program: 'nginx' | 'haproxy',
  ports: readonly number[],
): Promise<AsyncDisposable & { url: string }> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(os.tmpdir(), `carrel-${program}-`))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const port = await findFreePort()
  const text = await readFile(SCALING, 'utf8')
  const [, example = ''] = new RegExp(`\`\`\`${program}\\n([^]*?)\`\`\``).exec(text) ?? []
  assert.notEqual(example, '', `docs/scaling.md has no configuration of ${program}`)
  const local = example
    .replace(/10\.0\.0\.1([123]):8000/g, (_, node) => `127.0.0.1:${ports[Number(node) - 1]}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace('bind :80', `bind 127.0.0.1:${port}`)
  const file = path.join(folder, 'proxy.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  const whole =
    program === 'nginx'
      ? `daemon off; pid ${folder}/pid; error_log stderr error; events {}\nhttp { access_log off; ${paths}\n${local} }`
      : local
  await writeFile(file, whole)
  const args = program === 'nginx' ? ['-c', file, '-p', folder] : ['-f', file, '-db']
  const started: ChildProcess = spawn(findProgram(program) ?? program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  opened.defer(async () => {
    if (started.exitCode !== null) return
    const ended = once(started, 'exit')
    started.kill('SIGTERM')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  while (!(await isServing(`${url}/api2/ping/`))) {
    assert.equal(started.exitCode, null, `${program} ended`)
    await wait(100)
  }
  const kept = opened.move()
  return { url, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function isServing(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
