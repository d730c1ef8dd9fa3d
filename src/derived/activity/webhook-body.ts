import type { LibraryEvent } from '../../libraries/library/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import type { CommitSummary } from './activity-consumer.ts'
import { fitting } from './activity-row.ts'

// Webhook bodies in wire names, as described in docs/events.md. Names are only ever added.

// Bounds the size of pending deliveries, because paths can be long.
const MAX_PATH_CHARACTERS = 32_768
const MAX_DESCRIPTION_CHARACTERS = 2000

/** The events that webhooks send. */
export type WebhookEvent = 'commit' | 'deleted' | 'restored' | 'trash-emptied'

export function commitBody(library: LibraryInfo, { commit, activities, changeCount }: CommitSummary): string {
  return JSON.stringify({
    event: 'commit' satisfies WebhookEvent,
    ...named(library),
    commit_id: commit.id,
    parent_id: commit.parentId,
    seq: commit.seq,
    author_email: commit.creatorName ?? '',
    ...(commit.viaLink && { via_link: true }),
    time: commit.ctime,
    description: commit.description.slice(0, MAX_DESCRIPTION_CHARACTERS).toWellFormed(),
    // The first hundred changes; change_count is the total.
    changes: fitting(activities, MAX_PATH_CHARACTERS).map(({ op, object, path, oldPath, oldName }) => ({
      op_type: op,
      obj_type: object,
      path,
      ...(oldPath !== undefined && { old_path: oldPath }),
      ...(oldName !== undefined && { old_repo_name: oldName }),
    })),
    change_count: Math.max(changeCount, activities.length),
  })
}

export function eventBody(
  event: Extract<LibraryEvent, { kind: 'deleted' | 'restored' | 'trash-emptied' }>,
  now: number,
): string {
  return JSON.stringify({
    event: event.kind satisfies WebhookEvent,
    ...named(event.library),
    author_email: event.actor.email,
    time: now,
    ...(event.kind === 'trash-emptied' && { days: event.days }),
  })
}

function named({ id, name }: LibraryInfo) {
  return { repo_id: id, repo_name: name }
}
