import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { seededRandom } from '../support/random.ts'
import type { Job, JobResult, Subject } from './check-worker.ts'
import { DiskModel } from './disk-model.ts'
import { Knowledge } from './expectation.ts'
import { powerFailures } from './power-failures.ts'
import type { Recorded } from './recording.ts'
import { type RecordedScenario, scenarios } from './scenarios.ts'

export interface PowerCutOptions {
  readonly states: number
  readonly seed: number
  /** Only scenarios whose name contains it. */
  readonly only?: string
  readonly report: (line: string) => void
}

export interface PowerCutResult {
  /** Number of states. */
  readonly checked: number
  /** Descriptions of the states with a problem. */
  readonly problems: readonly string[]
}

/** Stops after so many states with a problem. */
const MAX_PROBLEMS = 5
/** Only for a check that hangs: a busy machine takes minutes for one. */
const CHECK_TIMEOUT_MS = 900_000

/**
 * Records servers under load, builds states that a power failure may leave, starts a server on each and compares it with what was
 * acknowledged.
 */
export async function cutPower({
  states,
  seed,
  only = '',
  report,
}: PowerCutOptions): Promise<PowerCutResult> {
  await using pool = new CheckerPool(os.availableParallelism() + 1)
  const problems: string[] = []
  let all = 0
  const chosen = scenarios.filter(({ name }) => name.includes(only))
  const shares = chosen.reduce((sum, { share }) => sum + share, 0)
  for (const scenario of chosen) {
    const recorded = await scenario.record(seed)
    const count = Math.max(1, Math.round((states * scenario.share) / shares))
    const started = performance.now()
    const { checked, kinds } = await checkScenario(recorded, { count, seed, pool, problems, report })
    if (recorded.keep !== undefined) await rm(recorded.keep, { recursive: true, force: true })
    all += checked
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    const { records, requests } = recorded
    report(
      `${scenario.name}: ${records.length} records, ${requests.length} requests; ` +
        `${checked} states of ${kinds} kinds checked in ${seconds} s, ${problems.length} problems`,
    )
  }
  return { checked: all, problems }
}

interface CheckOptions {
  readonly count: number
  readonly seed: number
  readonly pool: CheckerPool
  readonly problems: string[]
  readonly report: (line: string) => void
}

async function checkScenario(
  { name, env, present, records, requests, subject: subjectOf }: RecordedScenario,
  { count, seed, pool, problems, report }: CheckOptions,
): Promise<{ checked: number; kinds: number }> {
  const random = seededRandom(seed)
  const cuts = Map.groupBy(
    cutPoints(records, count, random).map((at, index) => {
      // Anew for each, because some kinds choose what is lost once for the whole disk.
      const failures = powerFailures(random)
      return { at, failure: failures[index % failures.length] }
    }),
    ({ at }) => at,
  )
  const model = new DiskModel(present)
  const knowledge = new Knowledge(requests)
  const marks = new Set<string>()
  const kinds = new Set<string>()
  const running = new Set<Promise<void>>()
  let checked = 0
  for (const [index, record] of records.entries()) {
    model.apply(record)
    if (subjectOf === undefined) knowledge.see(record)
    if (record.kind === 'mark') marks.add(record.text)
    for (const { failure } of cuts.get(index) ?? []) {
      if (failure === undefined || problems.length >= MAX_PROBLEMS) continue
      const subject: Subject = subjectOf?.(marks) ?? { kind: 'server', expected: knowledge.expectation() }
      const worker = await pool.take()
      const folder = await mkdtemp(path.join(fastFolder(), 'carrel-state-'))
      const data = path.join(folder, 'data')
      model.write(data, failure)
      checked += 1
      kinds.add(failure.name)
      const check = (async () => {
        const { problem } = await pool.run(worker, { data, env, subject })
        await rm(folder, { recursive: true, force: true })
        if (problem !== undefined) {
          const place = `${name}, after record ${index} (${describe(record)}), ${failure.name}, seed ${seed}`
          problems.push(`${place}:\n${problem}`)
          // At once, because a long run may be stopped before its end.
          report(`a problem in ${place}: ${problem.split('\n', 1)[0]}`)
        }
      })()
      running.add(check)
      void check.finally(() => running.delete(check))
    }
  }
  await Promise.all(running)
  return { checked, kinds: kinds.size }
}

/** Records after which the power fails: most of them where a mistake would show, the others anywhere. Ascending. */
function cutPoints(records: readonly Recorded[], count: number, random: () => number): number[] {
  const indexesOf = (matches: (record: Recorded) => boolean) =>
    records.flatMap((record, index) => (matches(record) ? [index] : []))
  const groups = [
    indexesOf((record) => record.kind === 'mark' && !record.text.startsWith('sent')),
    indexesOf((record) => record.kind === 'sync-began'),
    indexesOf(
      (record) => record.kind === 'renamed' || record.kind === 'unlinked' || record.kind === 'truncated',
    ),
    indexesOf((record) => 'path' in record && record.path === 'carrel.db'),
    indexesOf(() => true),
  ].filter((group) => group.length > 0)
  return Array.from({ length: count }, () => {
    const group = groups[Math.floor(random() * groups.length)] ?? []
    return group[Math.floor(random() * group.length)] ?? 0
  }).sort(() => random() - 0.5)
}

function describe(record: Recorded): string {
  return record.kind === 'mark' ? record.text : `${record.kind} ${record.path}`
}

/** Memory, where there is a folder in it: the states are small, many, and need no disk. */
function fastFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir()
}

/** Processes that check states. */
class CheckerPool implements AsyncDisposable {
  readonly #idle: ChildProcess[] = []
  readonly #waiting: ((worker: ChildProcess) => void)[] = []
  readonly #all = new Set<ChildProcess>()

  constructor(size: number) {
    for (let n = 0; n < size; n++) this.#idle.push(this.#start())
  }

  async take(): Promise<ChildProcess> {
    const idle = this.#idle.pop()
    return idle ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Returns the worker to the pool, or replaces it. */
  async run(worker: ChildProcess, job: Job): Promise<JobResult> {
    const done = new AbortController()
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)])
    const message = once(worker, 'message', { signal }) as Promise<[JobResult]>
    const exit = once(worker, 'exit', { signal })
    worker.send(job)
    try {
      return await Promise.race([
        message.then(([result]) => result),
        exit.then(([code]) => ({ problem: `the checker ended with ${code}` })),
      ])
    } catch (error) {
      worker.kill('SIGKILL')
      return { problem: `the check took too long: ${String(error)}` }
    } finally {
      // The listeners of the other one are removed, and its rejection is of no interest.
      void Promise.allSettled([message, exit])
      done.abort()
      const isAlive = worker.exitCode === null && worker.signalCode === null && !worker.killed
      if (!isAlive) this.#all.delete(worker)
      this.#return(isAlive ? worker : this.#start())
    }
  }

  #return(worker: ChildProcess): void {
    const next = this.#waiting.shift()
    if (next) next(worker)
    else this.#idle.push(worker)
  }

  #start(): ChildProcess {
    const worker = fork(path.join(import.meta.dirname, 'check-worker.ts'), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#all.add(worker)
    return worker
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = [...this.#all].map(async (worker) => {
      if (worker.exitCode !== null || worker.signalCode !== null) return
      const exit = once(worker, 'exit')
      worker.kill('SIGKILL')
      await exit
    })
    await Promise.all(ended)
    assert.equal(this.#waiting.length, 0)
  }
}
