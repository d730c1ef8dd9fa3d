import type { LibraryInfo } from '../commits/index.ts'
import type { LibraryEvent } from '../library/index.ts'
import type { ToldCommit } from './activity-follower.ts'
import { fitting } from './activity-row.ts'

// What receivers of webhooks are sent, in wire names. docs/events.md describes it; names are only ever added.

// Bounds what waits for a receiver that is down: names and texts can be long.
const MOST_PATH_CHARACTERS = 32_768
const MOST_DESCRIPTION_CHARACTERS = 2000

/** What receivers can be told of. */
export type WebhookEvent = 'commit' | 'deleted' | 'restored' | 'trash-emptied'

export function commitBody(library: LibraryInfo, { commit, activities, changeCount }: ToldCommit): string {
  return JSON.stringify({
    event: 'commit' satisfies WebhookEvent,
    ...named(library),
    commit_id: commit.id,
    parent_id: commit.parentId,
    seq: commit.seq,
    author_email: commit.creatorName ?? '',
    time: commit.ctime,
    description: commit.description.slice(0, MOST_DESCRIPTION_CHARACTERS).toWellFormed(),
    // The first hundred; change_count says how many there are.
    changes: fitting(activities, MOST_PATH_CHARACTERS).map(({ op, object, path, oldPath, oldName }) => ({
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
