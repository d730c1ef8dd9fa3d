import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Supervisor } from './supervisor.ts'

const entry = new URL('../../../test/support/small-worker.ts', import.meta.url)

describe('a supervisor of several processes', () => {
  let supervisor: Supervisor
  let port = 0
  const logged: string[] = []
  before(async () => {
    const log = (_fields: object, message: string) => void logged.push(message)
    supervisor = new Supervisor({
      entry,
      input: undefined,
      count: 2,
      deadNodeId: undefined,
      firstNodeId: 'first',
      logger: { info: log, warn: log, error: log },
      onFatal: () => assert.fail('fatal'),
      minRestartMs: 1,
      maxSilentTicks: 3,
      maxWaiting: 6,
    })
    // A frozen process would outlive a test that crashes or is stopped.
    process.once('exit', () => supervisor.kill())
    if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143))
    const report = await supervisor.start()
    port = (report as { port: number }).port
  })
  after(async () => {
    await supervisor.stop(0)
  })

  const pids = () => [...supervisor.pids.values()].filter((pid) => pid !== undefined)
  /** A connection to each of both processes, once both are ready. */
  const connectBoth = async (): Promise<[Socket, Socket]> => {
    const found = new Map<number, Socket>()
    await until(async () => {
      const socket = await connect(port)
      const pid = await askOn(socket, 'pid')
      if (found.has(pid)) socket.destroy()
      else found.set(pid, socket)
      return found.size === 2
    })
    const [one, other] = found.values()
    assert.ok(one !== undefined && other !== undefined)
    return [one, other]
  }

  it('grants a lock of a process that was killed to the next', async () => {
    const [first, second] = pids()
    assert.ok(first !== undefined && second !== undefined)
    const [holder, waiter] = await connectBoth()
    const killed = await askOn(holder, 'lock a')
    const waiting = askOn(waiter, 'lock a')
    assert.ok(killed === first || killed === second)
    process.kill(killed, 'SIGKILL')
    assert.equal(await waiting, killed === first ? second : first)
    waiter.destroy()
    await until(() => pids().length === 2 && !pids().includes(killed))
  })

  it('replaces a process that is frozen, and sends the connections it did not accept to another', async () => {
    for (const socket of await connectBoth()) socket.destroy()
    const [frozen] = pids()
    assert.ok(frozen !== undefined)
    process.kill(frozen, 'SIGSTOP')
    // Kept open, so that the other process does not always have fewer.
    const sockets = await Promise.all(Array.from({ length: 12 }, () => connect(port)))
    const replies = await Promise.all(sockets.map((socket) => askOn(socket, 'pid')))
    for (const socket of sockets) socket.destroy()
    assert.ok(!replies.includes(frozen))
    assert.ok(logged.includes('a process does not respond any more; it is killed'))
    await until(() => pids().length === 2 && !pids().includes(frozen))
  })

  it('closes connections that too many others wait before', async () => {
    for (const socket of await connectBoth()) socket.destroy()
    for (const pid of pids()) process.kill(pid, 'SIGSTOP')
    // Four are underway to each process, and six wait.
    const sockets = await Promise.all(Array.from({ length: 16 }, () => connect(port)))
    await until(() => sockets.filter((socket) => socket.readableEnded).length === 2)
    for (const pid of pids()) process.kill(pid, 'SIGCONT')
    const open = sockets.filter((socket) => !socket.readableEnded)
    const replies = await Promise.all(open.map((socket) => askOn(socket, 'pid')))
    assert.deepEqual(new Set(replies), new Set(pids()))
    for (const socket of sockets) socket.destroy()
  })
})

async function connect(port: number): Promise<Socket> {
  const socket = net.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  // Notices the end.
  socket.resume()
  return socket
}

/** The process id that answers. */
async function askOn(socket: Socket, text: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const onClose = () => reject(new Error('The connection was closed without a reply.'))
  socket.once('close', onClose)
  socket.once('data', (reply) => resolve(Number(reply.toString('utf8'))))
  socket.write(`${text}\n`)
  return promise.finally(() => socket.off('close', onClose))
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isTrue()); tries += 1) {
    assert.ok(tries < 1000, 'it did not happen')
    await wait(20)
  }
}
