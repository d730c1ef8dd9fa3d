/** How long deleted libraries can be restored. */
export const DELETED_LIBRARIES_KEPT_SECONDS = 30 * 86_400

/** How long objects and blocks stay that sync clients uploaded for a push that never came. */
export const RECEIVED_KEPT_SECONDS = 7 * 86_400
