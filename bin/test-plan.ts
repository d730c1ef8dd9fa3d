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
  /** Expected CPU seconds of each file at full length, or more if it waits much. The longest jobs start first. */
  readonly seconds: number
  readonly reason: string
}

const BOTH: readonly TestDatabase[] = ['sqlite', 'postgres']
const SQLITE: readonly TestDatabase[] = ['sqlite']
const POSTGRES: readonly TestDatabase[] = ['postgres']
const PLAIN: readonly TestDatabase[] = ['plain']
const ON_EACH_STORE: readonly TestDatabase[] = ['sqlite', 'plain']
const NODES: readonly TestDatabase[] = ['nodes']
const NONE: readonly TestDatabase[] = []

const DEFAULT_SECONDS = 3
/** Files that take this long have a process of their own. */
const ALONE_SECONDS: Record<Tier, number> = { fast: 20, deep: 40 }
/**
 * Files share a process until they are expected to take this long, because a process takes about a second of CPU time to load the server.
 * Shorter in the fast tier, which would otherwise end with one job that takes long.
 */
const GROUP_SECONDS: Record<Tier, number> = { fast: 40, deep: 120 }
/** How much longer than on SQLite the same files take: their CPU time does not include that of the database. */
const SLOWDOWN: Record<TestDatabase, number> = {
  sqlite: 1,
  postgres: 2,
  plain: 2,
  nodes: 2.5,
  processes: 1.5,
}

const fast = (
  files: string,
  databases: readonly TestDatabase[],
  reason: string,
  seconds = DEFAULT_SECONDS,
): Rule => ({ files, fast: databases, deep: NONE, reason, seconds })
const deep = (files: string, databases: readonly TestDatabase[], reason: string, seconds: number): Rule => ({
  files,
  fast: NONE,
  deep: databases,
  reason,
  seconds,
})
const both = (files: string, databases: readonly TestDatabase[], reason: string, seconds: number): Rule => ({
  files,
  fast: databases,
  deep: databases,
  reason,
  seconds,
})
const split = (files: string, reason: string, seconds: number): Rule => ({
  files,
  fast: SQLITE,
  deep: POSTGRES,
  reason,
  seconds,
})

const splitPlain = (files: string, reason: string, seconds: number): Rule => ({
  ...split(files, reason, seconds),
  deep: PLAIN,
})

/** What is tested when, and on what. */
export const RULES: readonly Rule[] = [
  // Randomized suites: in short, then at full length.
  deep('test/durability/kill', SQLITE, 'random: 8 kills', 40),
  deep('test/api/quota-growth', BOTH, 'many copies at the same time', 12),
  deep('src/extraction/text-extractor', SQLITE, 'starts worker processes', 12),
  deep('src/workers/hostile-messages', SQLITE, 'starts some thirty worker processes', 15),
  deep('test/cli/inspector', SQLITE, 'starts some ten processes', 10),
  deep('test/model/operations', SQLITE, 'random: 60 sequences, then a backup and a restore', 17),
  both('test/model/', SQLITE, 'random: 50 sequences of calls, then 500', 30),
  both('test/fuzz/', SQLITE, 'random: half a second for each target, then 4 s', 8),
  { ...both('test/api/concurrency', BOTH, '10 edits of each of 50 writers, then 80', 20), fast: SQLITE },
  both('test/api/matrix.', SQLITE, 'a random 40 of the routes, then all', 90),
  both('src/database/postgres/binary-rows', SQLITE, 'random: 15 rows for each statement, then 200', 4),
  both('src/storage/disk/disk-differential', SQLITE, 'random: 4 sequences of operations, then 15', 25),
  {
    ...both(
      'test/api/revocation',
      BOTH,
      'a random 3 of the ways a right ends, then a random half on each database',
      60,
    ),
    fast: SQLITE,
  },

  // Slow, and not about the database: once, in the deep tier.
  deep('test/upgrade/earlier-data', SQLITE, 'on both databases by itself', 30),
  deep('test/upgrade/migration', SQLITE, 'on both databases by itself, kills processes', 12),
  deep('test/durability/upload-kill', SQLITE, 'random: 8 kills', 20),
  deep('test/durability/push-kill', SQLITE, 'random: 4 kills', 15),
  deep('test/crash/power-cut', SQLITE, 'random: servers on 60 states of a disk', 100),
  deep('test/crash/io-errors', SQLITE, 'fails each step of each write path', 90),
  deep('test/crash/', SQLITE, 'simulates power failures and I/O errors', 60),
  deep('test/durability/', SQLITE, 'kills servers, fills a disk', 8),
  deep('test/clients/seaf-cli', SQLITE, 'real clients, which look for changes every few seconds', 120),
  deep('test/clients/rclone', SQLITE, 'a real client', 8),
  deep('test/clients/fail2ban', SQLITE, 'a real client', 4),
  deep('test/clients/promtool', SQLITE, 'a real client', 1),
  split('test/limits/table-bounds', 'fills tables with lowered bounds', 3),
  fast('test/limits/event-loop', SQLITE, 'turns of the event loop'),
  fast('test/limits/work-budget', SQLITE, 'twenty calls on both databases', 15),
  both(
    'test/limits/answer-budget',
    SQLITE,
    'every route; unusual bodies once for each limit, then for each route',
    45,
  ),
  fast('test/limits/released', SQLITE, 'one server'),
  deep('test/faults/', SQLITE, 'random: three faults under load on three nodes with PostgreSQL and S3', 60),
  deep('test/kills/', SQLITE, 'random: 16 kills under every kind of write', 60),
  deep('test/soak/soak', SQLITE, 'two minutes of mixed load, then collections and a check', 100),
  deep('test/mutation/quick', SQLITE, 'disables safeguards, one for each invariant', 60),
  deep('test/limits/memory-at-rest', SQLITE, 'mixed load, then minutes without any', 100),
  deep('test/limits/starting', SQLITE, 'waits for the time limit of a connection', 2),
  deep('test/limits/', SQLITE, 'overload for half a minute', 40),
  deep('test/docs/pages', SQLITE, 'parses all sources', 6),
  deep('test/docs/commands', SQLITE, 'runs the commands of the documents', 90),
  deep('test/docs/site', SQLITE, 'installs the site generator and builds the site', 60),
  deep('test/release/', SQLITE, 'packs a release and installs it', 90),
  deep('test/bench/quick', SQLITE, 'runs benchmarks', 40),
  deep('test/bench/published', SQLITE, 'runs benchmarks', 60),
  deep('test/cli/serve', SQLITE, 'starts some twenty processes', 40),
  deep('test/gc/freed-space', BOTH, 'stores and deletes 200 MB', 9),
  deep(
    'test/gc/killed',
    SQLITE,
    'kills some 46 collections, one at each kind of step; on both databases by itself',
    125,
  ),
  deep('test/gc/', SQLITE, 'random writers during garbage collection; on both databases by itself', 10),
  deep('test/cluster/postgres-interruptions', SQLITE, 'waits for time limits of connections', 100),
  deep(
    'test/cluster/postgres-silent-host',
    SQLITE,
    'four replicated PostgreSQL servers, waits for time limits',
    12,
  ),
  deep('test/cluster/postgres-', SQLITE, 'interruptions of a PostgreSQL of its own', 6),
  deep('test/cluster/server-processes', SQLITE, 'starts and kills some thirty processes', 60),
  deep('test/cluster/processes', SQLITE, 'starts and kills some thirty processes', 50),
  deep('test/cluster/', SQLITE, 'several servers on one PostgreSQL database by itself', 15),
  deep('test/storage/s3-', SQLITE, 'blocks in real S3 services: Ceph and OpenStack Swift', 100),
  deep('test/export/', BOTH, 'runs some twenty exports, and git', 12),
  deep('test/import/seafile-whole', SQLITE, 'an installation with 30 libraries and 3,000 commits', 60),
  deep('test/import/mysql', SQLITE, 'starts a MariaDB server', 6),
  split('test/import/', 'a small installation, imported by commands', 4),
  deep('test/backup/s3-services', SQLITE, 'real S3 services: Ceph and OpenStack Swift', 90),
  deep('test/backup/', SQLITE, 'starts some ten processes; on both databases by itself', 10),
  fast('test/mcp/hostile-content', SQLITE, 'pure'),
  deep('test/mcp/', SQLITE, 'starts some ten processes', 9),
  deep('test/client/conformance', SQLITE, 'tries all statements of the API over HTTP', 30),
  deep('test/client/shells', SQLITE, 'real shells, which start a process for each word', 15),
  deep('test/client/device-login', SQLITE, 'starts some processes, which poll every 5 seconds', 6),
  deep('test/client/login', SQLITE, 'starts some ten processes', 9),
  deep('test/client/transfers', SQLITE, 'large files, lost connections', 8),
  deep('test/client/sdk-build', SQLITE, 'packs the SDK', 5),
  deep('test/sdk/', SQLITE, 'runs Python programs, and the type checker of Python', 25),
  deep('test/client/sync-once', SQLITE, 'runs some twenty commands', 5),
  deep('test/client/import', SQLITE, 'starts some processes, and rclone', 8),
  deep('test/client/commands', SQLITE, 'runs some fifty commands', 6),
  deep('test/cli/gc', SQLITE, 'starts some ten processes', 35),
  deep('test/cli/doctor', SQLITE, 'starts some ten processes', 19),
  deep('test/cli/access', SQLITE, 'starts some ten processes', 8),
  deep('test/cli/user', SQLITE, 'starts some twenty processes', 20),
  deep('test/cli/usage', SQLITE, 'starts some ten processes', 13),
  deep('test/cli/stopping', SQLITE, 'starts and stops servers', 6),
  deep('test/cli/data-folder-lock', SQLITE, 'starts some ten processes', 17),
  deep('test/mail/', SQLITE, 'a real mail server, some fifteen servers', 15),
  deep('test/check/archives', SQLITE, 'two nodes on a PostgreSQL of its own', 8),
  deep('test/check/', BOTH, 'damages every part of a store', 15),
  deep('test/cli/check', SQLITE, 'starts some ten processes', 20),
  deep('test/clock/', SQLITE, 'restarts a server with wrong clocks', 8),
  deep('test/cli/clock', SQLITE, 'starts some processes', 6),
  deep('test/cli/secret', SQLITE, 'starts some ten processes', 8),
  deep('test/cli/reindex', SQLITE, 'starts some ten processes', 12),
  deep('test/pages/browser', SQLITE, 'browser', 30),
  deep('test/api/files-hostile', SQLITE, 'folders of many thousand names', 8),
  deep('test/transfer/download-memory', SQLITE, 'large files', 20),
  deep(
    'test/api/encrypted-views',
    SQLITE,
    'keys of version 1, each of which takes seconds; test/api/encrypted stands for PostgreSQL',
    20,
  ),
  deep('test/api/encrypted-crossing', SQLITE, 'every pair of kinds of libraries', 25),
  deep('src/extraction/hostile', SQLITE, 'documents that take their worker to its limits', 40),
  deep('src/imaging/hostile', SQLITE, 'images that take their worker to its limits', 10),
  deep('src/content/encryption-vectors', SQLITE, 'password hashes of full cost', 20),

  deep('src/database/row-cache', SQLITE, 'starts and restores PostgreSQL servers', 20),
  deep(
    'src/storage/disk/disk-block-store',
    SQLITE,
    'damages and kills stores; the differential test stays fast',
    26,
  ),
  deep('test/api/thumbnails-busy', SQLITE, 'busy worker processes', 5),
  deep('test/api/file-text-busy', SQLITE, 'busy worker processes', 4),
  deep('test/transfer/zip', SQLITE, 'archives of many files and of many gigabytes', 9),

  // Slow: in the fast tier on SQLite, in the deep tier on PostgreSQL.
  deep('test/api/batch', BOTH, 'many copies', 30),
  deep('test/api/credential-origins', [...BOTH, 'processes'], 'every way a credential ends', 10),
  deep('test/api/auth-token', BOTH, 'many password hashes', 8),
  split('test/api/accounts', 'many password hashes', 6),
  split('test/api/admin-users', 'many password hashes', 6),
  { ...split('test/api/tasks.', 'long', 5), deep: ['postgres', 'processes'] },
  deep('test/api/device-authorization', BOTH, 'many requests up to the limits', 6),
  deep('test/api/client-login', BOTH, 'a server for each way a session ends', 8),
  split('test/api/tasks', 'long', 5),
  { ...split('test/api/archives', 'password hashes', 4), deep: ['postgres', 'processes'] },
  deep('test/api/deprecated-batch', BOTH, 'many copies', 6),
  split('test/api/activities-model', 'long', 4),
  split('test/api/activities-folders', 'long', 4),
  split('test/api/audit', 'long', 4),
  split('test/api/contact-addresses', 'many accounts', 4),
  { ...split('test/api/live-events', 'long', 4), deep: ['postgres', 'processes'] },
  deep('test/api/visitors-long-folder', BOTH, 'a folder of 5,001 files', 3),
  deep('test/api/link-view-only', BOTH, 'images', 4),
  split('test/api/trash-restore', 'long', 5),
  split('test/api/activities.', 'long', 4),
  split('test/api/sub-libraries', 'long', 4),
  split('test/api/usage', 'long', 4),
  split('test/api/library-trash', 'long', 4),
  split('test/api/entry-limits', 'long', 4),
  split('test/api/shared-files', 'long', 4),
  split('test/api/webhooks', 'long', 4),
  split('test/api/merged-trash', 'long', 4),
  split('test/api/scopes-search', 'waits for the index', 3),
  split('test/api/search.', 'long', 3),
  split('test/api/link-visits', 'long', 3),
  split('test/api/revert', 'long', 3),
  split('test/api/library-history', 'long', 3),
  split('test/api/library-creation', 'long', 3),
  split('test/api/purge-while-indexing', 'long', 3),
  splitPlain('test/sync/merge', 'long', 8),
  splitPlain('test/sync/hostile', 'input nobody should send', 5),
  splitPlain('test/sync/uncommitted', 'long', 4),
  { ...splitPlain('test/sync/notifications', 'over HTTP', 3), deep: ['plain', 'processes'] },
  splitPlain('test/transfer/link-uploads', 'long', 8),
  deep('test/transfer/upload-limits', ON_EACH_STORE, 'long', 8),
  deep('test/transfer/unfinished-uploads', ON_EACH_STORE, 'long', 9),
  deep('test/transfer/chunks-two-nodes', BOTH, 'two server processes', 8),
  deep('test/transfer/archive', ON_EACH_STORE, 'archives', 6),
  { ...splitPlain('test/transfer/resumable.', 'long', 4), deep: ['plain', 'processes'] },
  splitPlain('test/transfer/download.', 'large files', 4),
  deep('test/api/password-guessing', BOTH, 'many password hashes', 15),
  deep(
    'test/transfer/encrypted',
    SQLITE,
    'large encrypted files; test/api/encrypted stands for PostgreSQL',
    35,
  ),
  deep('test/api/live-revocation', BOTH, 'every way a right ends, on open streams', 30),

  // The browser: signing in and working with files stand for the rest.
  fast('test/web/unit/', SQLITE, 'no server'),
  fast('test/web/served', SQLITE, 'no browser'),
  fast('test/web/error-messages', SQLITE, 'no server'),
  fast('test/web/sign-in', SQLITE, 'browser', 30),
  fast('test/web/files.', SQLITE, 'browser', 40),
  deep('test/web/every-page', SQLITE, 'every page four times, with axe and a screenshot', 100),
  deep('test/web/', SQLITE, 'browser', 15),

  // About one thing that has nothing to do with the database.
  deep('test/api/activities-large', SQLITE, 'size', 5),
  fast('test/api/avatars', SQLITE, 'images'),
  both('test/api/file-history-model', SQLITE, 'random; on both databases by itself in the deep tier', 4),
  deep('test/api/file-text', SQLITE, 'documents', 7),
  fast('test/api/matrix-hostile', SQLITE, 'input nobody should send'),
  fast('test/api/scopes', SQLITE, 'routes', 8),
  fast('test/api/sharing-hostile', SQLITE, 'input nobody should send'),
  deep('test/api/thumbnails', SQLITE, 'images', 5),
  split('test/api/photos', 'images', 5),
  fast('test/transfer/download-damage', SQLITE, 'blocks'),
  fast('test/transfer/download-ranges', SQLITE, 'blocks'),
  fast('test/transfer/upload-digest', SQLITE, 'blocks'),

  // Everything else. Suites over HTTP run on both databases; those that need PostgreSQL themselves find it on either.
  // Suites that hold or look at one server do not run on three nodes.
  fast('test/api/admin-status', BOTH, 'about the server that answers', 2.5),
  fast('test/api/credential-full-disk', BOTH, 'fails the disk of one server', 2.5),
  fast('test/api/failing-disk', BOTH, 'fails the disk of one server', 2.5),
  fast('test/api/folders.', BOTH, 'folders of thousands of levels', 2.5),
  fast('test/api/listing-tags', BOTH, 'each server caches names of accounts for a while', 2.5),
  fast('test/api/row-cache', BOTH, 'counts of one server', 2.5),
  fast('test/api/tags', BOTH, 'waits for the events of one server', 2.5),
  fast('test/api/upload-links', BOTH, 'waits for the webhooks of one server', 2.5),
  { ...fast('test/api/encrypted.', BOTH, 'over HTTP', 4), deep: ['nodes', 'processes'] },
  { ...fast('test/api/', BOTH, 'over HTTP', 4), deep: NODES },
  split('test/seed/', 'over HTTP', 20),
  { ...fast('test/sync/protocol', BOTH, 'over HTTP'), deep: ['plain', 'nodes', 'processes'] },
  splitPlain('test/sync/', 'over HTTP; the protocol stands for PostgreSQL in the fast tier', 3),
  { ...fast('test/transfer/upload.', BOTH, 'over HTTP'), deep: ['plain', 'nodes', 'processes'] },
  splitPlain('test/transfer/', 'over HTTP; uploads stand for PostgreSQL in the fast tier', 3),
  both('test/library/', SQLITE, 'on both databases by itself in the deep tier', 6),
  deep('test/webdav/webdav', BOTH, 'over HTTP; litmus stands for it in the fast tier', 6),
  deep('test/webdav/clients', SQLITE, 'real clients', 10),
  deep('test/webdav/rclone-suite', SQLITE, 'the tests of rclone, compiled', 120),
  deep('test/webdav/large-file', SQLITE, 'a file of more than 4 GiB', 40),
  split('test/webdav/', 'over HTTP', 3),
  fast('test/', SQLITE, 'not about the database'),
  deep('src/search/search-model', SQLITE, 'random', 6),
  both('src/search/search.', SQLITE, 'on both databases by itself in the deep tier', 10),
  both('src/search/search-current', SQLITE, 'on both databases by itself in the deep tier', 3),
  both('src/search/text-queue', SQLITE, 'on both databases by itself in the deep tier', 3),
  deep('src/search/search-large', SQLITE, 'on both databases by itself', 12),
  both('src/objects/chunker', SQLITE, 'splits of a long stream', 8),
  fast('src/database/', SQLITE, 'on both databases by itself', 5),
  deep('src/processes/supervisor', SQLITE, 'starts, kills and freezes some ten processes', 5),
  fast('src/storage/disk/', SQLITE, 'both disk stores', 9),
  deep('src/import/import-memory', SQLITE, '18,000 files', 10),
  deep('src/import/seafile-import', SQLITE, 'more rows than two flushes take', 4),
  fast('src/', SQLITE, 'beside the code', 1),
]

/** The jobs of some tiers, in the order in which to start them. `filters` are parts of paths; without any it is every file. */
export function planTests(root: string, tiers: readonly Tier[], filters: readonly string[]): TestJob[] {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  const files = findTestFiles(root).filter(
    (file) => wanted.length === 0 || wanted.some((part) => file.includes(part)),
  )
  // Asked for by name, a file is run once, at full length. With both tiers the short version of a suite is not run beside the long one.
  const databasesIn = (tier: Tier) => (rule: Rule) => {
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

const expectedSeconds = ({ job, seconds }: WeightedJob) => seconds * SLOWDOWN[job.database]

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
      const { seconds } = rule
      const group = `${database} ${seconds >= ALONE_SECONDS[tier] ? file : groupOf(file)}`
      const found = open.get(group)
      if (found !== undefined && found.seconds + seconds <= GROUP_SECONDS[tier]) {
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
  const rows = RULES.map(({ files, fast, deep, reason }) => {
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
