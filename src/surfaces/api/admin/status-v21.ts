import { json } from '../../../base/schemas/index.ts'
import type { IntegrityState } from '../../../maintenance/check/index.ts'
import type { MailState } from '../../../people/mail/index.ts'
import type { NodeState } from '../../../platform/cluster/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import type { MailQueue } from './admin.schema.ts'
import type { ServerStatus } from './server.schema.ts'
import { status } from './server.schema.ts'
import { statusRoute as route, type StatusServices } from './services.ts'

export const adminStatusRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/admin/status/',
    auth: 'admin',
    summary:
      'Returns the state of the server: health, free space, index lag, stored bytes by purpose, garbage collection, nodes, tasks and maintenance.',
    compatibility: 'addition',
    callers: 'administrators',
    responses: () => ({ 200: json(status, 'The state.') }),
    async handle(_input, services): Promise<ServerStatus> {
      const { server, search, copyMoveTasks, maintenanceLog, now } = services
      const [checks, disk, lag, tasks, stored, integrity, backup, mail, nodes, gc] = await Promise.all([
        server.checks(),
        server.disk(),
        search.reindexing.lag(),
        copyMoveTasks.countUnfinished(),
        storedBytes(services),
        services.integrity(),
        services.backups.state(),
        services.outbox.state(),
        services.node.list(),
        services.gc.readState(),
      ])
      const maintenance = maintenanceLog.list().map(({ name, endedAt, durationMs, failed }) => ({
        name,
        ended_at: isoTime(endedAt),
        duration_ms: durationMs,
        failed,
      }))
      return {
        ...server.about,
        started_at: isoTime(server.startedAt),
        uptime: now() - server.startedAt,
        healthy: Object.values(checks).every(Boolean),
        checks: (['database', 'data-folder'] as const).map((name) => ({ name, ok: checks[name] })),
        disk: disk ?? null,
        search: {
          commits_behind: lag.commits,
          seconds_behind: lag.seconds,
          texts_waiting: lag.waitingTexts,
          texts_failed: lag.failedTexts,
        },
        stored,
        gc: collectionToWire(gc),
        tasks,
        maintenance,
        upkeep: maintenance,
        last_backup: timeOrNull(backup.lastBackupAt),
        last_verified_backup: timeOrNull(backup.lastVerifiedAt),
        backup_unfinished_since: timeOrNull(backup.unfinishedSince),
        backup_failure: backup.failure
          ? { kind: backup.failure.kind, at: isoTime(backup.failure.at), message: backup.failure.message }
          : null,
        nodes: nodes.map((node) => nodeToWire(node, services.node.id)),
        mail: mailToWire(mail),
        last_check: integrity.lastCheck ? isoTime(integrity.lastCheck.finishedAt) : null,
        check_unfinished_since: timeOrNull(integrity.unfinishedCheckSince),
        integrity: integrityToWire(integrity),
      }
    },
  }),
]

function collectionToWire(state: Awaited<ReturnType<StatusServices['gc']['readState']>>): ServerStatus['gc'] {
  const { running, lastBeganAt, lastEndedAt, lastFailure, ...sums } = state
  return {
    running,
    last_began_at: timeOrNull(lastBeganAt),
    last_ended_at: timeOrNull(lastEndedAt),
    failed: lastFailure !== undefined,
    failure: lastFailure ?? null,
    deleted_blocks: sums.deletedBlocks,
    freed_bytes: sums.freedBytes,
    waiting_bytes: sums.waitingBytes,
  }
}

function nodeToWire(
  { id, address, version, startedAt, heartbeatAt, isAlive, leases }: NodeState,
  own: string,
): ServerStatus['nodes'][number] {
  return {
    id,
    address,
    version,
    alive: isAlive,
    is_this: id === own,
    started_at: isoTime(startedAt),
    // A node that stopped has none any more.
    heartbeat_at: heartbeatAt === 0 ? null : isoTime(heartbeatAt),
    leases: [...leases],
  }
}

export function mailToWire(state: MailState): MailQueue {
  const { isConfigured, waiting, oldestWaitingAt, sent, failed, lastError } = state
  return {
    configured: isConfigured,
    waiting,
    oldest_waiting: timeOrNull(oldestWaitingAt),
    sent_24h: sent,
    failed_24h: failed,
    last_error: lastError ?? null,
  }
}

function integrityToWire({ damagedBlocks, scrub, lastCheck }: IntegrityState): ServerStatus['integrity'] {
  return {
    damaged_blocks: damagedBlocks,
    check_findings: lastCheck?.findings ?? null,
    scrub: scrub
      ? {
          started_at: isoTime(scrub.startedAt),
          blocks: scrub.blocks,
          bytes: scrub.bytes,
          found: scrub.found,
          last_finished_at: scrub.last ? isoTime(scrub.last.finishedAt) : null,
          last_found: scrub.last?.found ?? null,
        }
      : null,
  }
}

async function storedBytes({ usage, statistics }: StatusServices): Promise<ServerStatus['stored']> {
  const [sums, bytes, blocks] = await Promise.all([
    usage.total(),
    statistics.latest('stored-bytes'),
    statistics.latest('stored-blocks'),
  ])
  const { fileSize, current, trash, history, unreferenced, shared, deleted, libraries, uncounted } = sums
  return {
    file_size: fileSize,
    current,
    trash,
    history,
    unreferenced,
    deleted,
    shared,
    repos_count: libraries,
    uncounted_repos: uncounted,
    on_disk: bytes ? { bytes: bytes.value, blocks: blocks?.value ?? 0, day: isoTime(bytes.day) } : null,
  }
}

function timeOrNull(seconds: number | undefined): string | null {
  return seconds === undefined ? null : isoTime(seconds)
}
