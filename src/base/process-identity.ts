import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Identifies a process among all that ever run: the start of its machine, the namespace of its id, the id, and when it began. Ids are used again, for example by the first process of a
 * restarted container. Contains no slash. Undefined where the kernel does not tell.
 */
export function identifyProcess(pid = process.pid): string | undefined {
  const found = inspect(pid)
  return found && `${found.place}:${pid}:${found.began}`
}

/** Whether an identified process has certainly ended. False for a process of another machine or container: from here it cannot be seen. */
export function hasEnded(identity: string): boolean {
  const [boot, namespace, id, began] = identity.split(':')
  const own = inspect(process.pid)
  const pid = Number(id)
  if (own === undefined || own.place !== `${boot}:${namespace}` || !Number.isInteger(pid)) return false
  if (!isRunning(pid)) return true
  const found = inspect(pid)
  return found !== undefined && (found.began !== began || found.isZombie)
}

function inspect(pid: number): { place: string; began: string; isZombie: boolean } | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field, the name in parentheses, may contain spaces. The third is the state, and the 22nd the start in ticks since that of the machine.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, began] = [fields[0], fields[19]]
    if (namespace === undefined || began === undefined) return undefined
    return { place: `${boot}:${namespace}`, began, isZombie: state === 'Z' }
  } catch {
    return undefined
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
