import { kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { mailState, storedOnDisk } from './admin.schema.ts'

const timeOrNull = kinds.orNull(kinds.isoTime)

export const auditEntry = kinds.record('AuditEntry', () => ({
  id: kinds.integer('Entries are numbered in the order of time.'),
  time: kinds.isoTime,
  actor: kinds.text('The account that did it, or what else did.'),
  address: kinds.text('The network address of the caller, or empty.'),
  action: kinds.text('The name of the action.'),
  object_kind: kinds.text('What it concerned: `account`, `library`, `server` …'),
  object_id: kinds.text('The id of that object, or empty.'),
  path: kinds.text('The path in a library, or empty.'),
  detail: kinds.mapOf(kinds.unknown(), 'Its fields depend on the action.'),
}))

export type AuditLogEntry = ValueOf<typeof auditEntry>

export const auditFilter = {
  actor: { description: 'Only entries of this account.' },
  action: { description: 'Only this action.' },
  repo_id: { description: 'Only entries about this library.' },
  object_id: { description: 'Only entries about this object.' },
  from: { description: 'Since this time, in ISO 8601.' },
  to: { description: 'Until this time, in ISO 8601. A date includes its day.' },
}

export const days = {
  start: { description: 'The first day, in ISO 8601. Default: 30 days before the last.' },
  end: { description: 'The last day, in ISO 8601. Default: today.' },
}

export const countOfDay = kinds.record('CountOfDay', () => ({
  datetime: kinds.isoTime,
  count: kinds.count('The number on that day.'),
}))

function maintenanceRuns(description: string) {
  const run = kinds.object({
    name: kinds.text('The name of the maintenance job.'),
    ended_at: kinds.isoTime,
    duration_ms: kinds.count('In milliseconds.'),
    failed: kinds.flag(),
  })
  return kinds.array(run, { description })
}

function storedBytes() {
  return kinds.object({
    file_size: kinds.count('The size of all files in bytes, as quotas count it.'),
    current: kinds.count('Bytes of the current content.'),
    trash: kinds.count('Bytes that only the trash needs.'),
    history: kinds.count('Bytes that only the history needs.'),
    unreferenced: kinds.count('Bytes that nothing needs any more. Garbage collection frees them.'),
    deleted: kinds.count('Bytes of deleted libraries.'),
    shared: kinds.count('Bytes that several libraries need. They are stored once.'),
    repos_count: kinds.count('The number of libraries.'),
    uncounted_repos: kinds.count('The number of libraries that were not counted yet.'),
    on_disk: kinds.orNull(storedOnDisk),
  })
}

function lastCollection() {
  return kinds.object({
    running: kinds.flag(),
    last_began_at: timeOrNull,
    last_ended_at: timeOrNull,
    failed: kinds.flag('Whether the last run failed.'),
    failure: kinds.orNull(kinds.text('Why it failed.')),
    deleted_blocks: kinds.count('The number of blocks it deleted.'),
    freed_bytes: kinds.size,
    waiting_bytes: kinds.count('Bytes that it will delete later.'),
  })
}

function nodeList() {
  return kinds.array(
    kinds.object({
      id: kinds.text('The id of the node.'),
      address: kinds.text('The address of the node.'),
      version: kinds.text('The version of the program.'),
      alive: kinds.flag('Whether it has sent a heartbeat lately.'),
      is_this: kinds.flag('Whether it answers this request.'),
      started_at: kinds.isoTime,
      heartbeat_at: timeOrNull,
      leases: kinds.array(kinds.text('The name of a lease.')),
    }),
  )
}

function integrityState() {
  return kinds.object({
    damaged_blocks: kinds.count('The number of blocks that are missing or damaged.'),
    check_findings: kinds.orNull(kinds.count('The number of findings of the last check.')),
    scrub: kinds.orNull(
      kinds.object({
        started_at: kinds.isoTime,
        blocks: kinds.count('The number of blocks that this pass has read.'),
        bytes: kinds.size,
        found: kinds.count('The number of damaged blocks that this pass has found.'),
        last_finished_at: timeOrNull,
        last_found: kinds.orNull(kinds.count('The number of damaged blocks that the last pass found.')),
      }),
    ),
  })
}

export const status = kinds.record('ServerStatus', () => ({
  version: kinds.text('The version of the program.'),
  database: kinds.oneOfWords(['sqlite', 'postgres']),
  blocks: kinds.oneOfWords(['disk', 's3'], 'Where blocks are stored.'),
  started_at: kinds.isoTime,
  uptime: kinds.integer('Seconds since then.'),
  healthy: kinds.flag('Whether all checks pass.'),
  checks: kinds.array(
    kinds.object({
      name: kinds.oneOfWords(['database', 'data-folder'], 'What was checked.'),
      ok: kinds.flag(),
    }),
  ),
  disk: kinds.orNull(
    kinds.object({ free: kinds.count('Bytes that are free.'), total: kinds.count('Bytes of the disk.') }),
  ),
  search: kinds.object({
    commits_behind: kinds.count('The number of commits that are not indexed yet.'),
    seconds_behind: kinds.integer('The age of the oldest of them.'),
    texts_waiting: kinds.count('The number of files whose text was not extracted yet.'),
    texts_failed: kinds.count('The number of files whose text could not be extracted.'),
  }),
  stored: storedBytes(),
  gc: lastCollection(),
  tasks: kinds.object({
    queued: kinds.count('The number of background tasks that wait.'),
    running: kinds.count('The number of background tasks that run.'),
  }),
  maintenance: maintenanceRuns('The last run of each maintenance job.'),
  upkeep: maintenanceRuns('The former name of `maintenance`.'),
  last_backup: timeOrNull,
  last_verified_backup: timeOrNull,
  backup_unfinished_since: timeOrNull,
  backup_failure: kinds.orNull(
    kinds.object({
      kind: kinds.oneOfWords(['backup', 'verify']),
      at: kinds.isoTime,
      message: kinds.text('Why it failed.'),
    }),
  ),
  nodes: nodeList(),
  mail: mailState,
  last_check: timeOrNull,
  check_unfinished_since: timeOrNull,
  integrity: integrityState(),
}))

export type ServerStatus = ValueOf<typeof status>

export const setup = kinds.record('ServerSetup', () => ({
  public_url: kinds.orNull(kinds.url),
  base_url: kinds.url,
  backup: kinds.object({
    scheduled: kinds.flag('Whether the server makes backups by itself.'),
    interval_hours: kinds.orNull(kinds.number({ description: 'The hours between them.' })),
    last_backup: timeOrNull,
    failure: kinds.orNull(kinds.object({ at: kinds.isoTime, message: kinds.text('Why it failed.') })),
  }),
  mail: mailState,
  accounts: kinds.count('The number of accounts.'),
  password_assigned: kinds.flag('Whether the password of the caller was assigned, not chosen by the caller.'),
}))
