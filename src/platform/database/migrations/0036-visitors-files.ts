import type { Migration } from './types.ts'

export const visitorsFiles: Migration = {
  version: 36,
  name: "visitors' files",
  async up(tx) {
    // Listings mark the files that visitors of links uploaded. Most libraries have none, which the index answers at once.
    await tx.run(
      'create index first_seen_by_visitors on first_seen (library_key, path_key) where via_link = 1',
    )
  },
}
