import { globSync } from 'node:fs'

/** The database that the servers of a test run on. */
export type TestDatabase = 'sqlite' | 'postgres'

/** `npm test` runs the fast tier. `npm run test:all` runs the deep tier as well. */
export type Tier = 'fast' | 'deep'

/** Test files that one process runs, on one database. */
export interface TestJob {
  readonly files: readonly string[]
  readonly database: TestDatabase
  readonly tier: Tier
}

interface Rule {
  /** Beginning of a path. The first rule that matches a file counts. */
  readonly files: string
  /** The databases of each tier. Randomized suites are in both tiers: in short, then at full length. */
  readonly fast: readonly TestDatabase[]
  readonly deep: readonly TestDatabase[]
  /** Expected seconds for each file, if many. The longest jobs start first. */
  readonly seconds?: number
  /** In a process of its own. */
  readonly isAlone?: true
  readonly reason: string
}

const BOTH: readonly TestDatabase[] = ['sqlite', 'postgres']
const SQLITE: readonly TestDatabase[] = ['sqlite']
const NONE: readonly TestDatabase[] = []

const DEFAULT_SECONDS = 3
/** Files share a process until they are expected to take this long. */
const GROUP_SECONDS = 30

/** What is tested when, and on what. */
export const RULES: readonly Rule[] = [
  // Longest first within each group of rules; the reason says why a file is not in the fast tier on both databases.
  {
    files: 'test/durability/kill',
    fast: NONE,
    deep: SQLITE,
    seconds: 235,
    isAlone: true,
    reason: 'random: few rounds, then many',
  },
  {
    files: 'test/durability/',
    fast: NONE,
    deep: SQLITE,
    seconds: 30,
    isAlone: true,
    reason: 'kills servers for minutes',
  },
  {
    files: 'test/model/',
    fast: NONE,
    deep: SQLITE,
    seconds: 200,
    isAlone: true,
    reason: 'random: few sequences, then many',
  },
  {
    files: 'test/clients/seaf-cli.',
    fast: NONE,
    deep: SQLITE,
    seconds: 192,
    isAlone: true,
    reason: 'a real client that syncs once a second',
  },
  {
    files: 'test/clients/',
    fast: NONE,
    deep: SQLITE,
    seconds: 60,
    isAlone: true,
    reason: 'real clients, most of it waiting',
  },
  {
    files: 'test/api/concurrency',
    fast: NONE,
    deep: BOTH,
    seconds: 140,
    isAlone: true,
    reason: 'long; measures memory',
  },
  {
    files: 'test/api/matrix.',
    fast: NONE,
    deep: SQLITE,
    seconds: 126,
    isAlone: true,
    reason: 'says nothing about the database and takes long',
  },
  {
    files: 'test/api/files-hostile',
    fast: NONE,
    deep: SQLITE,
    seconds: 60,
    isAlone: true,
    reason: 'says nothing about the database and takes long',
  },
  { files: 'test/web/libraries', fast: NONE, deep: SQLITE, seconds: 116, isAlone: true, reason: 'browser' },
  { files: 'test/web/unit/', fast: SQLITE, deep: NONE, reason: 'no server' },
  { files: 'test/web/', fast: NONE, deep: SQLITE, seconds: 50, isAlone: true, reason: 'browser' },
  {
    files: 'test/api/activities-large',
    fast: NONE,
    deep: SQLITE,
    reason: 'says nothing about the database and takes long',
  },
  { files: 'test/api/', fast: BOTH, deep: NONE, reason: 'over HTTP' },
  { files: 'test/seed/', fast: BOTH, deep: NONE, reason: 'over HTTP' },
  { files: 'test/sync/', fast: BOTH, deep: NONE, reason: 'over HTTP' },
  { files: 'test/transfer/', fast: BOTH, deep: NONE, reason: 'over HTTP' },
  {
    files: 'src/',
    fast: SQLITE,
    deep: NONE,
    reason: 'beside the code; those that need PostgreSQL use it themselves',
  },
  { files: 'test/', fast: SQLITE, deep: NONE, reason: 'database does not matter' },
]

/** The jobs of some tiers, in the order in which to start them. `filters` are parts of paths; without any it is every file. */
export function planTests(root: string, tiers: readonly Tier[], filters: readonly string[]): TestJob[] {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  const files = findTestFiles(root).filter(
    (file) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
  )
  // Asked for by name, a file is run once, at full length.
  const databasesIn = (tier: Tier) => (rule: Rule) =>
    wanted.length > 0 ? [...new Set([...rule.fast, ...rule.deep])] : rule[tier]
  return (wanted.length > 0 ? (['deep'] as const) : tiers)
    .flatMap((tier) => jobsOf(files, tier, databasesIn(tier)))
    .sort((a, b) => b.seconds - a.seconds)
    .map(({ job }) => job)
}

export function findTestFiles(root: string): string[] {
  return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort()
}

/** The rule of a test file. */
export function ruleOf(file: string): Rule | undefined {
  return RULES.find(({ files }) => file.startsWith(files))
}

interface WeightedJob {
  readonly job: TestJob & { readonly files: string[] }
  seconds: number
}

function jobsOf(
  files: readonly string[],
  tier: Tier,
  databasesOf: (rule: Rule) => readonly TestDatabase[],
): WeightedJob[] {
  const jobs: WeightedJob[] = []
  const open = new Map<string, WeightedJob>()
  for (const file of files) {
    const rule = ruleOf(file)
    if (rule === undefined) throw new Error(`${file} is in no tier: add it to the rules of the test plan.`)
    for (const database of databasesOf(rule)) {
      const seconds = rule.seconds ?? DEFAULT_SECONDS
      const group = `${database} ${rule.isAlone ? file : file.split('/').slice(0, 2).join('/')}`
      const found = open.get(group)
      if (found !== undefined && found.seconds + seconds <= GROUP_SECONDS) {
        found.job.files.push(file)
        found.seconds += seconds
        continue
      }
      const job = { job: { files: [file], database, tier }, seconds }
      open.set(group, job)
      jobs.push(job)
    }
  }
  return jobs
}
