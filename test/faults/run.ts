import { parseArgs } from 'node:util'
import { ensurePrograms, findProgram } from '../../bin/system-programs.ts'
import { startS3 } from '../support/s3.ts'
import { limitRequests } from './attempts.ts'
import { FAULTS } from './faults.ts'
import { type FaultReport, injectFaults } from './inject.ts'

// `npm run test:faults`: injects every fault under mixed load into three real nodes on PostgreSQL and S3, and prints the table of
// docs/scaling.md. `--only TEXT,TEXT` chooses faults by name, `--seed N` another sequence of operations, `--seconds N` limits each fault.

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string' },
  },
})
await ensurePrograms(['test/faults/run.ts'])
const faults = FAULTS.filter(({ name }) => values.only.split(',').some((text) => name.includes(text)))

console.log('| Fault | Operations | Acknowledged | Retried | Errors | Recovery | Violations |')
console.log('| --- | --- | --- | --- | --- | --- | --- |')
using _ = limitRequests()
await using s3 = await startS3('ceph')
const reports = await injectFaults({
  faults,
  s3,
  seed: Number(values.seed),
  ...(values.seconds !== undefined && { mostSeconds: Number(values.seconds) }),
  isChecked: true,
  seafProgram: findProgram('seaf-cli'),
  onReport: print,
})
const failed = reports.filter(({ counts }) => counts.violations.length > 0)
console.log(`\n${reports.length - failed.length} of ${reports.length} faults left everything as promised.`)
process.exitCode = failed.length === 0 ? 0 : 1

function print({ fault, counts, recoverySeconds }: FaultReport): void {
  const { operations, acknowledged, retried, errors, violations, context } = counts
  const cells = [
    fault.name,
    operations,
    acknowledged,
    retried,
    errors,
    `${recoverySeconds.toFixed(1)} s`,
    violations.length,
  ]
  console.log(`| ${cells.join(' | ')} |`)
  for (const line of violations) console.error(`  ✖ ${line}`)
  if (violations.length === 0) return
  for (const line of context) console.error(`    log of ${line}`)
  const kinds = Array.from(counts.kinds, ([kind, one]) => `${kind} ${one.acknowledged}+${one.errors}`)
  console.error(`    acknowledged + errors: ${kinds.join(', ')}`)
}
