import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// The plan of all tests. `node bin/test-plan.ts --write` updates the table in docs/testing.md; without the flag it only checks it.

/**
 * The database of the servers under test. `plain` is PostgreSQL with the plain disk store, `nodes` is three servers on PostgreSQL behind a
 * proxy, with blocks in S3, `processes` is two servers on one SQLite file behind a proxy.
 */
export type TestDatabase = 'sqlite' | 'postgres' | 'plain' | 'nodes' | 'processes'

/** `npm test` runs the fast tier. `npm run test:all` runs the deep tier as well. */
export type Tier = 'fast' | 'deep'

/**
 * How long each tier may take on two cores with nothing else running, with all that comes before it. `.ci/run` allows half as much
 * again, and ends before the machine that runs it ends it.
 */
export const PROMISED_MINUTES: Record<Tier, number> = { fast: 8, deep: 42 }
export const CI_MINUTES = 85

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
  readonly reason: string
  /** Files that take longer than `FAST_SECONDS` are in the deep tier instead. */
  readonly isMeasured?: true
}

const BOTH: readonly TestDatabase[] = ['sqlite', 'postgres']
const SQLITE: readonly TestDatabase[] = ['sqlite']
const POSTGRES: readonly TestDatabase[] = ['postgres']
const PLAIN: readonly TestDatabase[] = ['plain']
const ON_EACH_STORE: readonly TestDatabase[] = ['sqlite', 'plain']
const NODES: readonly TestDatabase[] = ['nodes']
const NONE: readonly TestDatabase[] = []

/**
 * Seconds of CPU time of each file at full length, which `npm test -- --measure` writes. The longest jobs start first.
 */
export const SECONDS_FILE = path.join(import.meta.dirname, 'test-seconds.json')
const measuredSeconds = JSON.parse(readFileSync(SECONDS_FILE, 'utf8')) as Readonly<Record<string, number>>
/** Of a file that was not measured yet. */
const DEFAULT_SECONDS = 3
const FAST_SECONDS = 5
/** Files that take this long have a process of their own. */
const ALONE_SECONDS: Record<Tier, number> = { fast: 20, deep: 40 }
/**
 * Files share a process until they are expected to take this long, because a process takes about a second of CPU time to load the server.
 * Shorter in the fast tier, which would otherwise end with one job that takes long.
 */
const GROUP_SECONDS: Record<Tier, number> = { fast: 30, deep: 120 }
/** How much longer than on SQLite the same files take: their CPU time does not include that of the database. */
const SLOWDOWN: Record<TestDatabase, number> = {
  sqlite: 1,
  postgres: 2,
  plain: 2,
  nodes: 2.5,
  processes: 1.5,
}

const rule =
  (fast: readonly TestDatabase[], deep: readonly TestDatabase[]) =>
  (files: string, reason: string): Rule => ({
    files,
    fast,
    deep,
    reason,
  })
const fast = (files: string, databases: readonly TestDatabase[], reason: string) =>
  rule(databases, NONE)(files, reason)
const deep = (files: string, databases: readonly TestDatabase[], reason: string) =>
  rule(NONE, databases)(files, reason)
const both = (files: string, databases: readonly TestDatabase[], reason: string) =>
  rule(databases, databases)(files, reason)
const split = rule(SQLITE, POSTGRES)
const splitPlain = rule(SQLITE, PLAIN)
/** On SQLite, in the fast tier if it is fast. */
const measured = (files: string, reason: string): Rule => ({
  ...rule(SQLITE, NONE)(files, reason),
  isMeasured: true,
})

/** What is tested when, and on what. */
export const RULES: readonly Rule[] = [
  // Randomized suites: in short, then at full length.
  deep('test/api/quota-growth', BOTH, 'many copies at the same time'),
  deep('test/model/operations', SQLITE, 'random: 60 sequences, then a backup and a restore'),
  both('test/model/', SQLITE, 'random: 50 sequences of calls, then 250'),
  both('test/fuzz/', SQLITE, 'random: half a second for each target, then 2 s'),
  { ...both('test/api/concurrency', BOTH, '10 edits of each of 50 writers, then 40'), fast: SQLITE },
  both('test/api/matrix.', SQLITE, 'a random 40 of the routes, then all'),
  both('src/platform/database/postgres/binary-rows', SQLITE, 'random: 15 rows for each statement, then 200'),
  both('src/platform/storage/disk/disk-differential', SQLITE, 'random: 4 sequences of operations, then 10'),
  {
    ...both(
      'test/api/revocation',
      BOTH,
      'a random 3 of the ways a right ends, then a random half on each database',
    ),
    fast: SQLITE,
  },

  // Slow, and not about the database: once, in the deep tier.
  deep('test/clients/fail2ban', SQLITE, 'a real client'),
  deep('test/clients/promtool', SQLITE, 'a real client'),
  split('test/limits/table-bounds', 'fills tables with lowered bounds'),
  fast('test/limits/event-loop', SQLITE, 'turns of the event loop'),
  fast('test/limits/work-budget', SQLITE, 'twenty calls on both databases'),
  deep('test/limits/database-bytes', SQLITE, 'a PostgreSQL server of its own'),
  deep('test/limits/answer-budget', SQLITE, 'every route in the largest state'),
  fast('test/limits/released', SQLITE, 'one server'),
  deep('test/limits/', SQLITE, 'overload for half a minute'),
  deep('test/gc/freed-space', BOTH, 'stores and deletes 200 MB'),
  deep('test/export/', SQLITE, 'runs some twenty exports, and git'),
  deep('test/import/seafile-whole', SQLITE, 'an installation with 30 libraries and 3,000 commits'),
  deep('test/import/mysql', SQLITE, 'starts a MariaDB server'),
  split('test/import/', 'a small installation, imported by commands'),
  fast('test/mcp/hostile-content', SQLITE, 'pure'),
  deep('test/client/sync-once', SQLITE, 'runs some twenty commands'),
  deep('test/check/archives', SQLITE, 'two nodes on a PostgreSQL of its own'),
  deep('test/check/scrub', SQLITE, 'reads blocks'),
  deep('test/check/', BOTH, 'damages every part of a store'),
  deep('test/api/files-hostile', SQLITE, 'folders of many thousand names'),
  deep('test/transfer/download-memory', SQLITE, 'large files'),
  deep(
    'test/api/encrypted-views',
    SQLITE,
    'keys of version 1, each of which takes seconds; test/api/encrypted stands for PostgreSQL',
  ),
  deep('test/api/encrypted-crossing', SQLITE, 'every pair of kinds of libraries'),
  deep('src/platform/database/row-cache', SQLITE, 'starts and restores PostgreSQL servers'),
  deep(
    'src/platform/storage/disk/disk-block-store',
    SQLITE,
    'damages and kills stores; the differential test stays fast',
  ),
  deep('test/transfer/zip', SQLITE, 'archives of many files and of many gigabytes'),

  // Slow: in the fast tier on SQLite, in the deep tier on PostgreSQL.
  deep('test/api/batch', BOTH, 'many copies'),
  deep('test/api/credential-origins', ['postgres', 'processes'], 'every way a credential ends'),
  deep('test/api/auth-token', BOTH, 'many password hashes'),
  split('test/api/accounts', 'many password hashes'),
  split('test/api/admin-users', 'many password hashes'),
  { ...split('test/api/tasks.', 'long'), deep: ['postgres', 'processes'] },
  deep(
    'test/api/device-authorization',
    SQLITE,
    'many requests up to the limits; on several nodes in test/cluster',
  ),
  deep('test/api/client-login', SQLITE, 'a server for each way a session ends'),
  split('test/api/tasks', 'long'),
  { ...split('test/api/archives', 'password hashes'), deep: ['postgres', 'processes'] },
  deep('test/api/deprecated-batch', SQLITE, 'many copies; test/api/batch stands for PostgreSQL'),
  split('test/api/activities-model', 'long'),
  split('test/api/activities-folders', 'long'),
  split('test/api/audit', 'long'),
  split('test/api/contact-addresses', 'many accounts'),
  { ...split('test/api/live-events', 'long'), deep: ['postgres', 'processes'] },
  deep('test/api/visitors-long-folder', SQLITE, 'a folder of 5,001 files'),
  deep('test/api/link-view-only', SQLITE, 'images'),
  split('test/api/trash-restore', 'long'),
  split('test/api/activities.', 'long'),
  split('test/api/sub-libraries', 'long'),
  split('test/api/usage', 'long'),
  split('test/api/library-trash', 'long'),
  split('test/api/entry-limits', 'long'),
  split('test/api/shared-files', 'long'),
  split('test/api/webhooks', 'long'),
  split('test/api/merged-trash', 'long'),
  split('test/api/scopes-search', 'waits for the index'),
  split('test/api/search.', 'long'),
  split('test/api/link-visits', 'long'),
  split('test/api/revert', 'long'),
  split('test/api/library-history', 'long'),
  split('test/api/library-creation', 'long'),
  split('test/api/purge-while-indexing', 'long'),
  { ...splitPlain('test/sync/notifications', 'over HTTP'), deep: ['plain', 'processes'] },
  deep('test/transfer/upload-limits', ON_EACH_STORE, 'long'),
  deep('test/transfer/unfinished-uploads', ON_EACH_STORE, 'long'),
  deep('test/transfer/chunks-two-nodes', BOTH, 'two server processes'),
  deep('test/transfer/archive-tasks', ON_EACH_STORE, 'archives'),
  deep('test/transfer/archive', SQLITE, 'archives'),
  { ...splitPlain('test/transfer/resumable.', 'long'), deep: ['plain', 'processes'] },
  deep(
    'test/api/password-guessing',
    SQLITE,
    'many password hashes; test/api/auth-token stands for PostgreSQL',
  ),
  deep('test/transfer/encrypted', SQLITE, 'large encrypted files; test/api/encrypted stands for PostgreSQL'),
  deep(
    'test/api/live-revocation',
    BOTH,
    'a random half of the ways a right ends on each database, on open streams',
  ),

  // The browser: signing in and working with files stand for the rest.
  fast('test/web/unit/', SQLITE, 'no server'),
  fast('test/web/served', SQLITE, 'no browser'),
  fast('test/web/error-messages', SQLITE, 'no server'),
  fast('test/web/sign-in', SQLITE, 'browser'),
  fast('test/web/files.', SQLITE, 'browser'),
  deep('test/web/', SQLITE, 'browser'),

  // About one thing that has nothing to do with the database.
  deep('test/api/activities-large', SQLITE, 'size'),
  fast('test/api/avatars', SQLITE, 'images'),
  both('test/api/file-history-model', SQLITE, 'random; on both databases by itself in the deep tier'),
  deep('test/api/file-text', SQLITE, 'documents'),
  fast('test/api/matrix-hostile', SQLITE, 'input nobody should send'),
  fast('test/api/scopes', SQLITE, 'routes'),
  fast('test/api/sharing-hostile', SQLITE, 'input nobody should send'),
  deep('test/api/thumbnails', SQLITE, 'images'),
  split('test/api/photo', 'images'),
  fast('test/transfer/download-damage', SQLITE, 'blocks'),
  fast('test/transfer/download-ranges', SQLITE, 'blocks'),
  fast('test/transfer/upload-digest', SQLITE, 'blocks'),

  // Everything else. Suites over HTTP run on SQLite in the fast tier, on PostgreSQL in the deep one; those that need PostgreSQL themselves find it on either.
  // Suites that hold or look at one server do not run on three nodes.
  split('test/api/admin-status', 'about the server that answers'),
  split('test/api/credential-full-disk', 'fails the disk of one server'),
  split('test/api/failing-disk', 'fails the disk of one server'),
  split('test/api/folders.', 'folders of thousands of levels'),
  split('test/api/listing-tags', 'each server caches names of accounts for a while'),
  split('test/api/row-cache', 'counts of one server'),
  split('test/api/tags', 'waits for the events of one server'),
  split('test/api/upload-links', 'waits for the webhooks of one server'),
  { ...fast('test/api/encrypted.', SQLITE, 'over HTTP'), deep: ['nodes', 'processes'] },
  rule(BOTH, NODES)('test/api/fileops', 'over HTTP; stands for PostgreSQL in the fast tier'),
  rule(BOTH, NODES)('test/api/groups', 'over HTTP; stands for PostgreSQL in the fast tier'),
  rule(BOTH, NODES)('test/api/share-links', 'over HTTP; stands for PostgreSQL in the fast tier'),
  rule(SQLITE, NODES)('test/api/', 'over HTTP; three nodes stand for PostgreSQL'),
  split('test/seed/', 'over HTTP'),
  { ...fast('test/sync/protocol', BOTH, 'over HTTP'), deep: ['plain', 'nodes', 'processes'] },
  fast('test/sync/hostile', SQLITE, 'input nobody should send'),
  fast('test/sync/merge', SQLITE, 'trees'),
  splitPlain('test/sync/', 'over HTTP; the protocol stands for PostgreSQL in the fast tier'),
  { ...fast('test/transfer/upload.', BOTH, 'over HTTP'), deep: ['plain', 'nodes', 'processes'] },
  fast('test/transfer/link', SQLITE, 'permissions and names'),
  fast('test/transfer/upload-hostile', SQLITE, 'input nobody should send'),
  fast('test/transfer/upload-places', SQLITE, 'names'),
  fast('test/transfer/upload-progress', SQLITE, 'one server'),
  fast('test/transfer/upload-refusals', SQLITE, 'input nobody should send'),
  fast('test/transfer/user-bytes', SQLITE, 'headers'),
  splitPlain('test/transfer/', 'over HTTP; uploads stand for PostgreSQL in the fast tier'),
  both('test/library/', SQLITE, 'on both databases by itself in the deep tier'),
  deep('test/webdav/webdav', SQLITE, 'over HTTP; litmus stands for it in the fast tier, and on PostgreSQL'),
  deep('test/webdav/clients', SQLITE, 'real clients'),
  deep('test/webdav/rclone-suite', SQLITE, 'the tests of rclone, compiled'),
  deep('test/webdav/large-file', SQLITE, 'a file of more than 4 GiB'),
  split('test/webdav/', 'over HTTP'),
  measured('test/', 'not about the database'),
  both('src/derived/search/search.', SQLITE, 'on both databases by itself in the deep tier'),
  both('src/derived/search/search-current', SQLITE, 'on both databases by itself in the deep tier'),
  both('src/derived/search/text-queue', SQLITE, 'on both databases by itself in the deep tier'),
  both('src/base/objects/chunker', SQLITE, 'splits of a long stream'),
  deep('src/platform/processes/supervisor', SQLITE, 'starts, kills and freezes some ten processes'),
  fast('src/platform/storage/disk/', SQLITE, 'both disk stores'),
  deep('src/maintenance/import/seafile-import', SQLITE, 'more rows than two flushes take'),
  measured('src/', 'beside the code'),
  measured('packages/', 'beside the code'),
]

/** The jobs of some tiers, in the order in which to start them. `filters` are parts of paths; without any it is every file. */
export function planTests(root: string, tiers: readonly Tier[], filters: readonly string[]): TestJob[] {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  const files = findTestFiles(root).filter(
    (file) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
  )
  // Asked for by name, a file is run once, at full length. With both tiers the short version of a suite is not run beside the long one.
  const databasesIn = (tier: Tier) => (rule: Pick<Rule, 'fast' | 'deep'>) => {
    if (wanted.length > 0) return [...new Set([...rule.fast, ...rule.deep])]
    const isRepeated = (database: TestDatabase) => tiers.includes('deep') && rule.deep.includes(database)
    return tier === 'fast' ? rule.fast.filter((database) => !isRepeated(database)) : rule.deep
  }
  return (wanted.length > 0 ? (['deep'] as const) : tiers)
    .flatMap((tier) => jobsOf(files, tier, databasesIn(tier)))
    .sort((a, b) => expectedSeconds(b) - expectedSeconds(a))
    .map(({ job }) => job)
}

export function findTestFiles(root: string): string[] {
  return globSync(['{src,packages}/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort()
}

/** The rule of a test file. */
export function ruleOf(file: string): Rule | undefined {
  return RULES.find(({ files }) => file.startsWith(files))
}

function secondsOf(file: string): number {
  return measuredSeconds[file] ?? DEFAULT_SECONDS
}

/** Where a file is tested. */
function databasesOf(rule: Rule, file: string): Pick<Rule, 'fast' | 'deep'> {
  return rule.isMeasured && secondsOf(file) > FAST_SECONDS ? { fast: NONE, deep: rule.fast } : rule
}

/** Keeps what a run took as the seconds of its files, and drops files that do not exist. */
export function recordSeconds(root: string, runs: readonly { name: string; cpuSeconds: number }[]): void {
  const taken: Record<string, number> = {}
  for (const { name, cpuSeconds } of runs) {
    taken[name] = Math.max(taken[name] ?? 0, Math.round(cpuSeconds))
  }
  const rows = findTestFiles(root).flatMap((file) => {
    const seconds = taken[file] ?? measuredSeconds[file]
    return seconds === undefined ? [] : [[file, seconds] as const]
  })
  writeFileSync(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`)
}

interface WeightedJob {
  readonly job: TestJob & { readonly files: string[] }
  seconds: number
}

const expectedSeconds = ({ job, seconds }: WeightedJob) => seconds * SLOWDOWN[job.database]

function jobsOf(
  files: readonly string[],
  tier: Tier,
  databasesIn: (rule: Pick<Rule, 'fast' | 'deep'>) => readonly TestDatabase[],
): WeightedJob[] {
  const jobs: WeightedJob[] = []
  const open = new Map<string, WeightedJob>()
  for (const file of files) {
    const rule = ruleOf(file)
    if (rule === undefined) throw new Error(`${file} is in no tier: add it to the rules of the test plan.`)
    const seconds = secondsOf(file)
    for (const database of databasesIn(databasesOf(rule, file))) {
      const group = `${database} ${seconds >= ALONE_SECONDS[tier] ? file : groupOf(file)}`
      const found = open.get(group)
      if (found !== undefined && (found.seconds + seconds) * SLOWDOWN[database] <= GROUP_SECONDS[tier]) {
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

/**
 * Which files may share a process: all that load the server. Those of the web app load other modules, and its tests without a browser
 * replace globals such as `fetch`.
 */
function groupOf(file: string): string {
  const [top, folder, part] = file.split('/')
  if (folder !== 'web') return `${top}`
  return part === 'unit' ? 'test/web/unit' : 'test/web'
}

export const TESTING_FILE = path.join(import.meta.dirname, '../docs/testing.md')

/** The page with the table of the rules in place of the one it has. */
export function testingPage(page: string): string {
  const rows = RULES.map(({ files, fast, deep, reason, isMeasured }) => {
    if (isMeasured)
      return `| \`${files}…\` | SQLite, up to ${FAST_SECONDS} s | SQLite, if longer | ${reason} |`
    return `| \`${files}…\` | ${namesOf(fast)} | ${namesOf(deep)} | ${reason} |`
  })
  const table = `| Files | Fast tier | Deep tier | Reason |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
  const [before = ''] = page.split(/^\| Files/m)
  return `${before}${table}`
}

/** For people. */
export const DATABASE_NAMES: Record<TestDatabase, string> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  plain: 'PostgreSQL with the plain disk store',
  nodes: 'three nodes',
  processes: 'two processes on SQLite',
}

function namesOf(databases: readonly TestDatabase[]): string {
  return databases.map((database) => DATABASE_NAMES[database]).join(', ')
}

if (import.meta.main) {
  const page = readFileSync(TESTING_FILE, 'utf8')
  if (process.argv.includes('--write')) writeFileSync(TESTING_FILE, testingPage(page))
  else if (testingPage(page) !== page) {
    console.error('docs/testing.md differs from the plan: run node bin/test-plan.ts --write.')
    process.exitCode = 1
  }
}
