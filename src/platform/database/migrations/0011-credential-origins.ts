import type { Migration } from './types.ts'

/**
 * What each credential was derived from, so that it ends with its cause. An epoch is a counter that grows when everything
 * issued before it must end. Credentials from before this step have the epoch their account, library or link starts with,
 * and no parent token.
 */
export const credentialOrigins: Migration = {
  version: 11,
  name: 'credential origins',
  async up(tx, { key, int, bytes, text }) {
    const parentToken = `${int} references api_token (key) on delete cascade`
    const statements = [
      // Grows with a new password, deactivation, sign-out everywhere and removal.
      `alter table account add column epoch ${int} not null default 0`,
      // Grows when the library is deleted: nothing issued before opens it once it is restored.
      `alter table library add column epoch ${int} not null default 0`,
      // API tokens get a key that stays when the token is replaced. `user_agent` is that of the last sign-in.
      `create table api_token_with_key (
        key ${key},
        hash ${bytes} not null unique,
        account_key ${int} not null references account (key) on delete cascade,
        nonce ${bytes} not null,
        platform ${text} not null,
        device_id ${text} not null,
        device_name ${text} not null,
        client_version ${text} not null,
        platform_version ${text} not null,
        user_agent ${text} not null default '',
        login_address ${text} not null,
        created_at ${int} not null,
        last_used_at ${int} not null,
        wiped_at ${int},
        unique (account_key, platform, device_id)
      )`,
      `insert into api_token_with_key (hash, account_key, nonce, platform, device_id, device_name, client_version,
         platform_version, login_address, created_at, last_used_at, wiped_at)
       select hash, account_key, nonce, platform, device_id, device_name, client_version, platform_version,
         login_address, created_at, last_used_at, wiped_at from api_token order by created_at`,
      'drop table api_token',
      'alter table api_token_with_key rename to api_token',
      'create index api_token_by_use on api_token (last_used_at)',
      `alter table scoped_token add column epoch ${int} not null default 0`,
      `alter table webdav_secret add column epoch ${int} not null default 0`,
      `alter table sync_token add column epoch ${int} not null default 0`,
      `alter table sync_token add column library_epoch ${int} not null default 0`,
      `alter table sync_token add column api_token_key ${parentToken}`,
      'create index sync_token_by_api_token on sync_token (api_token_key)',
      // Grows with each change of the link.
      `alter table link add column epoch ${int} not null default 0`,
      `alter table link add column scoped_token_key ${int} references scoped_token (key) on delete cascade`,
      'create index link_by_scoped_token on link (scoped_token_key)',
      // `epoch` is null for a ticket given out by a link, which does not end with the sign-ins of its maker. Its parent
      // token is that of the visitor, if the link is for named people.
      `alter table ticket add column epoch ${int}`,
      `alter table ticket add column library_epoch ${int} not null default 0`,
      `alter table ticket add column link_epoch ${int} not null default 0`,
      `alter table ticket add column api_token_key ${parentToken}`,
      // The one file an update ticket replaces; null until it was used.
      `alter table ticket add column target ${text}`,
      'create index ticket_by_api_token on ticket (api_token_key)',
      'update ticket set epoch = 0 where link_key is null',
      // No references: a task whose origin has ended stays to say that it failed.
      `alter table copy_move_task add column epoch ${int} not null default 0`,
      `alter table copy_move_task add column api_token_key ${int}`,
    ]
    for (const statement of statements) await tx.run(statement)
  },
}
