import type { Migration } from './types.ts'

export const links: Migration = {
  version: 6,
  name: 'links',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      // Share links and upload links. `path_key` is null once what was shared is gone: the link then leads
      // nowhere, whatever comes to be at the path.
      // The path is one of the library; a link made in a sub-library opens no more than that shows.
      // The password is encrypted with the secret of the server, because its maker may read it again.
      `create table link (
        key ${key},
        token ${text} not null unique,
        kind ${text} not null,
        account_key ${int} not null references account (key) on delete cascade,
        library_key ${int} not null references library (key) on delete cascade,
        sub_key ${int} references sub_library (key) on delete cascade,
        path_key ${bytes},
        path ${text} not null,
        is_dir ${int} not null,
        password ${bytes},
        expires_at ${int},
        can_edit ${int} not null,
        can_download ${int} not null,
        can_upload ${int} not null,
        scope ${text} not null,
        emails ${text} not null,
        description ${text} not null,
        views ${int} not null,
        active ${int} not null,
        created_at ${int} not null
      )`,
      'create index link_by_path on link (library_key, path_key)',
      'create index link_by_sub on link (sub_key)',
      'create index link_by_account on link (account_key, library_key)',
      // A ticket given out by a link goes with it.
      `alter table ticket add column link_key ${int} references link (key) on delete cascade`,
      'create index ticket_by_link on ticket (link_key)',
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
