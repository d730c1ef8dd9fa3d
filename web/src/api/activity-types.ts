type ActivityOperation = 'create' | 'delete' | 'edit' | 'rename' | 'move' | 'recover' | 'clean-up-trash'
type ActivityObjectType = 'repo' | 'dir' | 'file'

/** A row of `GET /api/v2.1/activities/`. */
export interface ActivityItem {
  readonly op_type: ActivityOperation
  readonly obj_type: ActivityObjectType
  readonly repo_id: string
  readonly repo_name: string
  readonly commit_id: string
  readonly path: string
  readonly name: string
  readonly old_path?: string
  readonly old_name?: string
  readonly old_repo_name?: string
  readonly author_email: string
  readonly author_name: string
  readonly avatar_url: string
  /** A visitor of a link made the change. The author is then the creator of the link. */
  readonly via_link?: true
  /** ISO. */
  readonly time: string
}

/** A row of `GET /api/v2.1/notifications/`; `detail` depends on the type. */
export interface NotificationItem {
  readonly id: number
  readonly type: string
  readonly detail: Readonly<Record<string, unknown>>
  /** ISO. */
  readonly time: string
  readonly seen: boolean
}
