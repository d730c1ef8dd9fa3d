import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const ATTEMPTS = 3
const START_MS = 10_000

/** A program that serves HTTP, in a child process on a free port of this machine. */
export interface HttpProgram {
  readonly child: ChildProcess
  readonly url: string
}

/**
 * Starts a program and resolves once it accepts connections. If it exits at once, for example because another process has bound the port, it
 * is started again on another port. It ends with this process.
 * @param argsFor writes its configuration for a port, and returns its arguments
 * @param logFile read for the message if it does not start
 */
export async function startHttpProgram(
  program: string,
  argsFor: (port: number) => Promise<readonly string[]>,
  logFile: string,
): Promise<HttpProgram> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const child = await startOn(program, await argsFor(port), port)
    if (child !== undefined) return { child, url: `http://127.0.0.1:${port}` }
    if (attempt < ATTEMPTS) continue
    const log = await readFile(logFile, 'utf8').catch(() => '')
    throw new Error(`${program} does not start: ${log.trim()}`)
  }
}

/** Ends a program with SIGTERM, and waits for it. */
export async function endProgram({ child }: HttpProgram): Promise<void> {
  await end(child)
}

/** Undefined if it exited at once, for example because the port was taken. */
async function startOn(
  program: string,
  args: readonly string[],
  port: number,
): Promise<ChildProcess | undefined> {
  const child = spawn(program, args, { stdio: 'ignore' })
  const onExit = () => child.kill('SIGTERM')
  process.once('exit', onExit)
  child.once('exit', () => process.off('exit', onExit))
  for (const deadline = Date.now() + START_MS; child.exitCode === null; await delay(5)) {
    if (await answers(port)) return child
    if (Date.now() < deadline) continue
    await end(child)
    throw new Error(`${program} did not answer within ten seconds`)
  }
  return undefined
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function freePort(): Promise<number> {
  await using server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
