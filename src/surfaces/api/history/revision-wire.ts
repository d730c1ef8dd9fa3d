import type { Revision } from '../../../libraries/history/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { isoTime } from '../common/wire-formats.ts'
import { commitRecord, creatorOf, shownDescription, viaLinkField } from './commit-wire.ts'

/** A revision as `/api2/` lists it. */
export function revisionRecord(revision: Revision, people: ReadonlyMap<string, Person>) {
  const { email, name, contactEmail } = creatorOf(revision.commit, people)
  return {
    ...commitRecord(revision.commit),
    rev_file_id: revision.fileId,
    rev_file_size: revision.size,
    rev_renamed_old_path: revision.oldPath ?? null,
    user_info: { email, name, contact_email: contactEmail },
  }
}

/** An item of `GET /api/v2.1/repos/<id>/file/history/`. */
export function historyItem(
  revision: Revision,
  people: ReadonlyMap<string, Person>,
  baseUrl: string,
  avatarSize?: number,
) {
  return {
    ...common(revision, people, baseUrl, avatarSize),
    description: shownDescription(revision.commit),
    rev_renamed_old_path: revision.oldPath ?? null,
  }
}

/** An item of `GET /api/v2.1/repos/<id>/file/new_history/`. */
export function newHistoryItem(
  revision: Revision,
  people: ReadonlyMap<string, Person>,
  baseUrl: string,
  avatarSize?: number,
) {
  return {
    ...common(revision, people, baseUrl, avatarSize),
    op_type: revision.kind,
    old_path: revision.oldPath ?? '',
  }
}

function common(
  revision: Revision,
  people: ReadonlyMap<string, Person>,
  baseUrl: string,
  avatarSize?: number,
) {
  const { commit, size, fileId, path } = revision
  const creator = creatorOf(commit, people)
  return {
    commit_id: commit.id,
    ctime: isoTime(commit.ctime),
    size,
    rev_file_id: fileId,
    path,
    creator_email: creator.email,
    creator_name: creator.name,
    creator_contact_email: creator.contactEmail,
    creator_avatar_url: avatarUrl(baseUrl, creator, avatarSize),
    ...viaLinkField(commit),
  }
}
