import type { Migration } from './types.ts'

// Ids of objects rest as 20 raw bytes. `path_key` is the SHA-1 of a path: paths can be longer than
// an index entry may be. Times are Unix seconds.
export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  async up(tx, { key, int, bytes, text }) {
    const statements = [
      `create table account (
        key ${key},
        email ${text} not null unique,
        name ${text} not null default '',
        contact_email ${text} not null default '',
        login_id ${text} unique,
        department ${text} not null default '',
        institution ${text} not null default '',
        list_in_address_book ${int} not null default 0,
        password_hash ${text} not null,
        role ${text} not null,
        active ${int} not null,
        quota ${int} not null default 0,
        default_library_key ${int},
        created_at ${int} not null,
        last_login_at ${int}
      )`,
      'create index account_by_contact on account (contact_email)',
      `create table api_token (
        hash ${bytes} primary key,
        account_key ${int} not null references account (key) on delete cascade,
        nonce ${bytes} not null,
        platform ${text} not null,
        device_id ${text} not null,
        device_name ${text} not null,
        client_version ${text} not null,
        platform_version ${text} not null,
        login_address ${text} not null,
        created_at ${int} not null,
        last_used_at ${int} not null,
        unique (account_key, platform, device_id)
      )`,
      // A deleted library keeps its row and its content until it is purged; owner_key stays too.
      `create table library (
        key ${key},
        id ${text} not null unique,
        owner_key ${int} not null references account (key),
        name ${text} not null,
        description ${text} not null,
        head ${bytes} not null,
        head_seq ${int} not null,
        root ${bytes} not null,
        size ${int} not null,
        file_count ${int} not null,
        updated_at ${int} not null,
        modifier ${text} not null,
        status ${int} not null default 0,
        enc_version ${int} not null default 0,
        magic ${text} not null default '',
        random_key ${text} not null default '',
        salt ${text} not null default '',
        pwd_hash ${text} not null default '',
        pwd_hash_algo ${text} not null default '',
        pwd_hash_params ${text} not null default '',
        history_days ${int},
        valid_since_seq ${int} not null default 0,
        created_at ${int} not null,
        deleted_at ${int}
      )`,
      'create index library_by_owner on library (owner_key, updated_at)',
      `create table sync_token (
        hash ${bytes} primary key,
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        created_at ${int} not null
      )`,
      'create index sync_token_by_account on sync_token (account_key)',
      'create index sync_token_by_library on sync_token (library_key)',
      // seq numbers the commits of a library from 1 without gaps, in the order they joined the
      // history of its head; null while a commit was received and no head has reached it.
      `create table commit_object (
        library_key ${int} not null references library (key) on delete cascade,
        id ${bytes} not null,
        seq ${int},
        root ${bytes} not null,
        parent ${bytes},
        second_parent ${bytes},
        creator ${bytes} not null,
        creator_name ${text} not null,
        description ${text} not null,
        ctime ${int} not null,
        device_name ${text},
        client_version ${text},
        conflict ${int} not null default 0,
        new_merge ${int} not null default 0,
        primary key (library_key, id)
      )`,
      'create unique index commit_by_seq on commit_object (library_key, seq, ctime)',
      // kind: 1 file, 3 dir. encoding: 0 as received (zlib), 1 packed, 2 difference to `base`.
      // size and file_count cover all that is below a dir.
      `create table fs_object (
        library_key ${int} not null references library (key) on delete cascade,
        id ${bytes} not null,
        kind ${int} not null,
        encoding ${int} not null,
        base ${bytes},
        depth ${int} not null,
        size ${int} not null,
        file_count ${int} not null,
        data ${bytes} not null,
        primary key (library_key, id)
      )`,
      `create table library_block (
        library_key ${int} not null references library (key) on delete cascade,
        block_id ${bytes} not null,
        size ${int} not null,
        primary key (library_key, block_id)
      )`,
      'create index library_block_by_id on library_block (block_id)',
      `create table file_lock (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        account_key ${int} not null references account (key) on delete cascade,
        locked_at ${int} not null,
        expires_at ${int},
        primary key (library_key, path_key)
      )`,
      'create index file_lock_by_account on file_lock (account_key)',
      `create table star (
        account_key ${int} not null references account (key) on delete cascade,
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        is_dir ${int} not null,
        created_at ${int} not null,
        primary key (account_key, library_key, path_key)
      )`,
      'create index star_by_library on star (library_key)',
      `create table smart_link (
        token ${text} primary key,
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        is_dir ${int} not null,
        unique (library_key, path_key, is_dir)
      )`,
      `create table ticket (
        hash ${bytes} primary key,
        operation ${text} not null,
        library_key ${int} not null references library (key) on delete cascade,
        account_key ${int} not null references account (key) on delete cascade,
        path ${text} not null,
        object_id ${bytes},
        reusable ${int} not null,
        expires_at ${int} not null
      )`,
      'create index ticket_by_expiry on ticket (expires_at)',
      'create index ticket_by_account on ticket (account_key)',
      // Derived (I3): where each library's followers stand, what was deleted, who added a path first.
      `create table follower (
        library_key ${int} not null references library (key) on delete cascade,
        name ${text} not null,
        seq ${int} not null,
        primary key (library_key, name)
      )`,
      `create table trash_item (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        path ${text} not null,
        is_dir ${int} not null,
        object_id ${bytes} not null,
        size ${int} not null,
        deleted_at ${int} not null,
        deleted_by ${text} not null,
        seq ${int} not null,
        position ${int} not null,
        commit_before ${bytes} not null,
        primary key (library_key, path_key)
      )`,
      'create index trash_by_seq on trash_item (library_key, seq, position)',
      `create table first_seen (
        library_key ${int} not null references library (key) on delete cascade,
        path_key ${bytes} not null,
        author ${text} not null,
        added_at ${int} not null,
        primary key (library_key, path_key)
      )`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
