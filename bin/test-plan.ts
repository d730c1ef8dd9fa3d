import { globSync } from 'node:fs'

/** A test file, on the database that its server runs on. */
export interface TestJob {
  readonly file: string
  readonly database: 'sqlite' | 'postgres'
}

/** Suites that speak to a server over HTTP: they are run with SQLite and with PostgreSQL. */
const ON_BOTH_DATABASES = ['test/api/', 'test/seed/', 'test/sync/', 'test/transfer/']

/** Of those, what says nothing about the database and takes long. */
const ON_ONE_DATABASE = [
  'test/api/activities-large',
  'test/api/avatars',
  'test/api/encrypted-crossing',
  'test/api/file-history-model',
  'test/api/file-text',
  'test/api/files-hostile',
  'test/api/matrix',
  'test/api/scopes',
  'test/api/sharing-hostile',
  'test/api/thumbnails',
  'test/transfer/download-damage',
  'test/transfer/download-memory',
  'test/transfer/download-ranges',
  'test/transfer/upload-digest',
  'test/transfer/zip',
]

/** What takes longest, most of it waiting: begun first, so that the rest fills the time. */
const LONGEST_FIRST = [
  'test/clients/seaf-cli',
  'test/model/',
  'test/durability/kill',
  'test/api/concurrency',
  'test/api/matrix.',
  'test/clients/',
  'test/durability/',
  'test/web/',
]

/** What is to be run, in order; `filters` are parts of paths, and without any it is everything. */
export function planTests(root: string, filters: readonly string[]): TestJob[] {
  const wanted = filters.map((filter) => filter.replace(/^\.\//, ''))
  const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
    .sort()
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  const jobs = files.flatMap((file): TestJob[] => {
    const isTwice = isAmong(file, ON_BOTH_DATABASES) && !isAmong(file, ON_ONE_DATABASE)
    return isTwice
      ? [
          { file, database: 'sqlite' },
          { file, database: 'postgres' },
        ]
      : [{ file, database: 'sqlite' }]
  })
  return jobs.sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf({ file }: TestJob): number {
  const found = LONGEST_FIRST.findIndex((start) => file.startsWith(start))
  return found === -1 ? LONGEST_FIRST.length : found
}

function isAmong(file: string, starts: readonly string[]): boolean {
  return starts.some((start) => file.startsWith(start))
}
