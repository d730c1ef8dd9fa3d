import { parseArgs } from 'node:util'
import { type KillCounts, killRepeatedly } from './kills.ts'
import { killMigrations } from './migration-kills.ts'

// `npm run test:kills -- --count 10000`: kills servers at random moments under every kind of write, and one in ten during a
// migration. Prints the counts; fails at the first acknowledged write that is lost. `--seed N` repeats a sequence of moments.

const { values } = parseArgs({
  options: { count: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
})
const count = Number(values.count)
const seed = Number(values.seed)
const inMigrations = Math.floor(count / 10)

const startedAt = performance.now()
const counts = await killRepeatedly({
  count: count - inMigrations,
  seed,
  onProgress(so) {
    if (so.kills % 25 === 0) console.log(line(so))
  },
})
console.log(line(counts))
const migrations = await killMigrations({ count: inMigrations, seed })
console.log(`${migrations} kills during migrations: every folder opened with all its files.`)
const minutes = (performance.now() - startedAt) / 60_000
console.log(
  `${counts.kills + migrations} kills in ${minutes.toFixed(1)} minutes, nothing acknowledged was lost.`,
)

function line({
  kills,
  acknowledged,
  cutOff,
  backupsKilled,
  collectionsKilled,
  restored,
}: KillCounts): string {
  const total = [...acknowledged.values()].reduce((sum, one) => sum + one, 0)
  const kinds = Array.from(acknowledged, ([kind, n]) => `${kind} ${n} (+${cutOff.get(kind) ?? 0} cut off)`)
  return `${kills} kills, ${total} acknowledged writes kept: ${kinds.join(', ')}; ${backupsKilled} backups and ${collectionsKilled} collections killed, ${restored} servers restored`
}
