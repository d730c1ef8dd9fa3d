import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { plot } from './plot.ts'
import { isSettledSmall } from './settle.ts'
import { isGarbageGone, type SoakReport, soak } from './soak.ts'

// `npm run soak -- --minutes 60`: mixed load on a server of its own. Prints samples, then a table of what must be flat. The exit
// code is 1 if something grows or a response is wrong. `--svg FILE` writes a chart of every value, `--pace MS` sets the pause of
// each client after an operation, `--seed N` the sequence of operations.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    idle: { type: 'string', default: '90' },
    pace: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    svg: { type: 'string' },
  },
})

// A run that something else ends, such as a time limit, says so.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    console.error(`The soak was ended by ${signal} after ${performance.now().toFixed(0)} ms.`)
    process.exit(1)
  })
}

const seconds = Number(values.minutes) * 60
const report = await soak({
  seconds,
  idleSeconds: Number(values.idle),
  paceMs: Number(values.pace),
  seed: Number(values.seed),
  sampleMs: Math.min(10_000, Math.max(2000, (seconds / 120) * 1000)),
  onSample(sample) {
    const { at, memoryMb, parts, descriptors, diskMb, overdueMb, loopDelayMs, p50Ms, p99Ms, operations } =
      sample
    console.log(
      `${at.toFixed(0).padStart(5)} s  ${memoryMb.toFixed(0).padStart(5)} MB (heap ${parts.heap.toFixed(0)}, external ${parts.external.toFixed(0)}, anonymous ${parts.anonymous.toFixed(0)})  ${String(descriptors).padStart(4)} fd  ` +
        `${diskMb.toFixed(0).padStart(6)} MB disk, ${overdueMb?.toFixed(0) ?? '?'} overdue  loop p99 ${loopDelayMs.toFixed(0).padStart(4)} ms  ` +
        `p50 ${p50Ms.toFixed(0).padStart(5)} ms  p99 ${p99Ms.toFixed(0).padStart(5)} ms  ${operations} operations`,
    )
  },
})
console.log(`\n${tableOf(report)}`)
if (values.svg !== undefined) await writeFile(values.svg, plot(report.trends))
const isSmall = isSettledSmall(report.settled) && isGarbageGone(report)
process.exitCode = isSmall && report.trends.every(({ trend }) => trend.isFlat) ? 0 : 1

function tableOf(report: SoakReport): string {
  const { trends, counts, freedBytes, peakMb, idleMb, settled } = report
  const rows = trends.map(({ title, trend: { mean, growth, allowed, isFlat } }) => {
    const cells = [mean, growth, allowed].map((value) => value.toFixed(0))
    return `| ${title} | ${cells.join(' | ')} | ${isFlat ? 'yes' : 'NO'} |`
  })
  const { unsettledBytes, diskBytes, liveBytes, logBytes } = settled
  const [before, disk, live, log] = [unsettledBytes, diskBytes, liveBytes, logBytes].map((bytes) =>
    (bytes / 1e6).toFixed(1),
  )
  const operations = Array.from(counts, ([kind, count]) => `${kind} ${count}`).join(', ')
  return [
    '| Value | Mean of the second half | Growth in it | Allowed | Flat |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `Operations: ${operations}. Collections freed ${(freedBytes / 1e6).toFixed(0)} MB. Memory: at most ${peakMb.toFixed(0)} MB under load, ${idleMb.toFixed(0)} MB after ${values.idle} s without load.`,
    `Garbage that should have been gone, at most in the second half: ${overdueOf(report)}.`,
    `Settled after ${settled.collections} collections: ${before} MB on disk before, ${disk} MB then, for ${live} MB of live files and ${log} MB of logs, ${isSettledSmall(settled) ? 'as small as it must be' : 'TOO MUCH'}.`,
  ].join('\n')
}

function overdueOf(report: SoakReport): string {
  if (report.overdueMb === undefined) return 'UNKNOWN, because there were too few collections'
  return `${report.overdueMb.toFixed(0)} MB, ${isGarbageGone(report) ? 'as it must be' : 'TOO MUCH'}`
}
