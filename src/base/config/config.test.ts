import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { type Config, ConfigError, readConfig, settings } from './index.ts'

const cwd = mkdtempSync(path.join(tmpdir(), 'carrel-config-'))
after(() => rmSync(cwd, { recursive: true }))

/** The data folder of one test, with this `carrel.json`. */
function dataWith(carrelJson: unknown): string {
  const data = mkdtempSync(path.join(cwd, 'data-'))
  const text = typeof carrelJson === 'string' ? carrelJson : JSON.stringify(carrelJson)
  writeFileSync(path.join(data, 'carrel.json'), text)
  return data
}

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message
  }
  return assert.fail('it was accepted')
}

describe('the configuration', () => {
  it('has a default for every setting', () => {
    assert.deepEqual(readConfig({ env: {}, cwd }), {
      host: '127.0.0.1',
      port: 8000,
      dataDirectory: path.join(cwd, 'data'),
      publicUrl: undefined,
      trustedProxies: [],
      administrator: { email: 'admin@carrel.local', password: undefined },
      database: { kind: 'sqlite', file: path.join(cwd, 'data/carrel.db') },
      databaseConnections: 10,
      databaseResults: 'binary',
      blocks: {
        kind: 'disk',
        directory: path.join(cwd, 'data/blocks'),
        implementation: 'fast',
        cacheBytes: 10_000_000_000,
      },
      boundarySearch: 'fast',
      unsafeStorage: 'refuse',
      preMigrationBackups: path.join(cwd, 'data', 'before-migration'),
      secret: { file: path.join(cwd, 'data/secret'), given: undefined },
      limits: {
        quota: undefined,
        upload: undefined,
        archive: undefined,
        archiveSpace: 50_000_000_000,
        copy: undefined,
        unfinished: 100_000_000_000,
        linkUnfinished: 10_000_000_000,
        history: undefined,
      },
      entries: { library: 10_000_000, commit: 1_000_000 },
      tasks: { atOnce: 5, files: undefined },
      historyDays: -1,
      reserveBytes: 32_000_000,
      gcGraceSeconds: 86_400,
      scrubDays: 30,
      auditDays: -1,
      activityDays: -1,
      drainSeconds: 0,
      ticketSeconds: 3600,
      passwordLength: 8,
      secondFactor: { requiredOf: 'off', graceDays: 14 },
      linkPasswordLength: 10,
      sessionIdleDays: 180,
      rateLimit: true,
      http: {
        transport: { kind: 'fast' },
        bodyMemory: 256_000_000,
        connections: 10_000,
        connectionsPerAddress: 256,
      },
      quotaStatus: 500,
      shareAcceptance: 'off',
      metricsToken: undefined,
      securityContact: undefined,
      webhookPrivate: false,
      backup: {
        target: undefined,
        intervalSeconds: 86_400,
        verifySeconds: 30 * 86_400,
        keep: { last: 3, daily: 7, weekly: 5, monthly: 12 },
        passphraseFile: undefined,
        s3: {
          endpoint: undefined,
          region: undefined,
          accessKey: undefined,
          secretKey: undefined,
          sessionToken: undefined,
          encryption: undefined,
        },
      },
      mail: undefined,
      mailPerDay: 100,
      processes: 1,
      threads: undefined,
      log: 'info',
      notices: [],
    } satisfies Config)
  })

  const accepted: [env: Record<string, string>, read: (config: Config) => unknown, expected: unknown][] = [
    [{ CARREL_HOST: '::' }, (c) => c.host, '::'],
    [{ CARREL_HOST: 'files.example.org' }, (c) => c.host, 'files.example.org'],
    [{ CARREL_PORT: '0' }, (c) => c.port, 0],
    [{ CARREL_SESSION_IDLE_DAYS: '0' }, (c) => c.sessionIdleDays, 0],
    [{ CARREL_PORT: '65535' }, (c) => c.port, 65_535],
    [{ CARREL_PORT: '' }, (c) => c.port, 8000],
    [{ CARREL_DATA: '/srv/carrel' }, (c) => c.dataDirectory, '/srv/carrel'],
    [{ CARREL_DATA: 'here' }, (c) => c.secret.file, path.join(cwd, 'here/secret')],
    [{ CARREL_PUBLIC_URL: 'https://files.example.org/' }, (c) => c.publicUrl, 'https://files.example.org'],
    [{ CARREL_PUBLIC_URL: 'http://h:8080/files/' }, (c) => c.publicUrl, 'http://h:8080/files'],
    [{ CARREL_TRUSTED_PROXIES: '127.0.0.1' }, (c) => c.trustedProxies, ['127.0.0.1']],
    [{ CARREL_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }, (c) => c.trustedProxies, ['10.0.0.0/8', '::1']],
    [{ CARREL_TRUSTED_PROXIES: 'fd00::/8' }, (c) => c.trustedProxies, ['fd00::/8']],
    [{ CARREL_ADMIN_EMAIL: 'Me@Example.org' }, (c) => c.administrator.email, 'me@example.org'],
    [{ CARREL_ADMIN_PASSWORD: ' as it is ' }, (c) => c.administrator.password, ' as it is '],
    [{ CARREL_DATABASE: 'sqlite' }, (c) => c.database.kind, 'sqlite'],
    [
      { CARREL_DATABASE: 'postgres://u:p@h/db' },
      (c) => c.database,
      { kind: 'postgres', url: 'postgres://u:p@h/db' },
    ],
    [{ CARREL_DATABASE: 'postgresql:///db?host=/run/pg' }, (c) => c.database.kind, 'postgres'],
    [
      { CARREL_DATABASE: 'postgres://u:p@a:5432,b/db?target_session_attrs=read-write' },
      (c) => c.database,
      { kind: 'postgres', url: 'postgres://u:p@a:5432,b/db?target_session_attrs=read-write' },
    ],
    [
      { CARREL_BACKUP_S3_SSE: 'aws:kms:a:b' },
      (c) => c.backup.s3.encryption,
      { algorithm: 'aws:kms', keyId: 'a:b' },
    ],
    [
      { CARREL_BACKUP_S3_SSE: 'AES256' },
      (c) => c.backup.s3.encryption,
      { algorithm: 'AES256', keyId: undefined },
    ],
    [{ CARREL_BLOCKS: 'disk' }, (c) => c.blocks.kind, 'disk'],
    [
      { CARREL_BLOCKS: 's3://my-bucket', CARREL_BLOCK_CACHE_MB: '5' },
      (c) => c.blocks,
      {
        kind: 's3',
        bucket: {
          bucket: 'my-bucket',
          prefix: '',
          endpoint: undefined,
          region: 'us-east-1',
          pathStyle: false,
          encryption: undefined,
        },
        directory: path.join(cwd, 'data/block-cache'),
        cacheBytes: 5_000_000,
        implementation: 'fast',
      },
    ],
    [
      {
        CARREL_BLOCKS:
          's3://b.c/p/q/?endpoint=http://127.0.0.1:9000&region=eu-1&path_style=0&sse=aws:kms&sse_kms_key_id=k',
      },
      (c) => c.blocks.kind === 's3' && c.blocks.bucket,
      {
        bucket: 'b.c',
        prefix: 'p/q/',
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-1',
        pathStyle: false,
        encryption: { algorithm: 'aws:kms', keyId: 'k' },
      },
    ],
    [
      { CARREL_BLOCKS: 's3://bucket/?endpoint=https://s3.example.org&sse=AES256' },
      (c) => c.blocks.kind === 's3' && [c.blocks.bucket.pathStyle, c.blocks.bucket.encryption],
      [true, { algorithm: 'AES256', keyId: undefined }],
    ],
    [
      { CARREL_DISK: 'plain' },
      (c) => c.blocks,
      {
        kind: 'disk',
        directory: path.join(cwd, 'data/blocks'),
        implementation: 'plain',
        cacheBytes: 10_000_000_000,
      },
    ],
    [{ CARREL_SECRET: '0123456789abcdef' }, (c) => c.secret.given, '0123456789abcdef'],
    [{ CARREL_DEFAULT_QUOTA_MB: '3' }, (c) => c.limits.quota, 3_000_000],
    [{ CARREL_MAX_UPLOAD_MB: '0.5' }, (c) => c.limits.upload, 500_000],
    [{ CARREL_MAX_ARCHIVE_MB: '0' }, (c) => c.limits.archive, undefined],
    [{ CARREL_ARCHIVE_SPACE_MB: '2.5' }, (c) => c.limits.archiveSpace, 2_500_000],
    [{ CARREL_ARCHIVE_SPACE_MB: '0' }, (c) => c.limits.archiveSpace, undefined],
    [{ CARREL_MAX_COPY_MB: '1.5' }, (c) => c.limits.copy, 1_500_000],
    [{ CARREL_MAX_COPY_FILES: '100000' }, (c) => c.tasks.files, 100_000],
    [{ CARREL_MAX_COPY_FILES: '0' }, (c) => c.tasks.files, undefined],
    [{ CARREL_MAX_LIBRARY_ENTRIES: '5000' }, (c) => c.entries.library, 5000],
    [{ CARREL_MAX_LIBRARY_ENTRIES: '0' }, (c) => c.entries.library, undefined],
    [{ CARREL_MAX_UNFINISHED_MB: '2' }, (c) => c.limits.unfinished, 2_000_000],
    [{ CARREL_MAX_HISTORY_MB: '7' }, (c) => c.limits.history, 7_000_000],
    [{ CARREL_MAX_LINK_UNFINISHED_MB: '0' }, (c) => c.limits.linkUnfinished, undefined],
    [{ CARREL_MAX_COMMIT_ENTRIES: '70' }, (c) => c.entries.commit, 70],
    [{ CARREL_TASKS_AT_ONCE: '2' }, (c) => c.tasks.atOnce, 2],
    [{ CARREL_HISTORY_DAYS: '-1' }, (c) => c.historyDays, -1],
    [{ CARREL_HISTORY_DAYS: '0' }, (c) => c.historyDays, 0],
    [{ CARREL_TEST_RESERVE_MB: '0' }, (c) => c.reserveBytes, 0],
    [{ CARREL_RESERVE_MB: '0' }, (c) => c.reserveBytes, 32_000_000],
    [{ CARREL_TEST_RESERVE_MB: '8', CARREL_RESERVE_MB: '9' }, (c) => c.reserveBytes, 8_000_000],
    [
      { CARREL_BACKUP_KEEP: 'last=2,weekly=3' },
      (c) => c.backup.keep,
      { last: 2, daily: 0, weekly: 3, monthly: 0 },
    ],
    [{ CARREL_BACKUP_KEEP_DAILY: '9' }, (c) => c.backup.keep, { last: 3, daily: 9, weekly: 5, monthly: 12 }],
    [{ CARREL_MAX_UNFINISHED_MB: '200000' }, (c) => c.limits.linkUnfinished, 20_000_000_000],
    [{ CARREL_BACKUP_TARGET: 's3://b.c/x?profile=y' }, (c) => c.backup.target, 's3://b.c/x?profile=y'],
    [{ CARREL_BLOCKS: 's3://b.c?profile=y' }, (c) => c.blocks.kind === 's3' && c.blocks.bucket.profile, 'y'],
    [{ CARREL_GC_GRACE_SECONDS: '0' }, (c) => c.gcGraceSeconds, 0],
    [{ CARREL_TICKET_SECONDS: '60' }, (c) => c.ticketSeconds, 60],
    [{ CARREL_PASSWORD_LENGTH: '12' }, (c) => c.passwordLength, 12],
    [{ CARREL_SECOND_FACTOR: 'everyone' }, (c) => c.secondFactor.requiredOf, 'everyone'],
    [{ CARREL_SECOND_FACTOR_GRACE_DAYS: '0' }, (c) => c.secondFactor.graceDays, 0],
    [{ CARREL_LINK_PASSWORD_LENGTH: '4' }, (c) => c.linkPasswordLength, 4],
    [{ CARREL_METRICS_TOKEN: 'sixteen-letters!' }, (c) => c.metricsToken, 'sixteen-letters!'],
    [{ CARREL_SECURITY_CONTACT: 'a@b.org' }, (c) => c.securityContact, 'mailto:a@b.org'],
    [{ CARREL_SECURITY_CONTACT: 'https://b.org/tell' }, (c) => c.securityContact, 'https://b.org/tell'],
    [{ CARREL_RATE_LIMIT: 'off' }, (c) => c.rateLimit, false],
    [{ CARREL_HTTP: 'node' }, (c) => c.http.transport, { kind: 'node', certificate: undefined }],
    [
      { CARREL_TLS_CERT: '/etc/cert.pem', CARREL_TLS_KEY: '/etc/key.pem' },
      (c) => c.http.transport,
      { kind: 'node', certificate: { certificate: '/etc/cert.pem', key: '/etc/key.pem' } },
    ],
    [{ CARREL_BODY_MEMORY_MB: '64' }, (c) => c.http.bodyMemory, 64_000_000],
    [{ CARREL_MAX_CONNECTIONS: '100' }, (c) => c.http.connections, 100],
    [{ CARREL_MAX_CONNECTIONS_PER_ADDRESS: '5' }, (c) => c.http.connectionsPerAddress, 5],
    [{ CARREL_QUOTA_STATUS: '443' }, (c) => c.quotaStatus, 443],
    [{ CARREL_SHARE_ACCEPTANCE: 'new-givers' }, (c) => c.shareAcceptance, 'new-givers'],
    [{ CARREL_PROCESSES: '4' }, (c) => c.processes, 4],
    [{ CARREL_PROCESSES: 'auto' }, (c) => c.processes, 'auto'],
    [{ CARREL_THREADS: '4' }, (c) => c.threads, 4],
    [{ CARREL_LOG: 'silent' }, (c) => c.log, 'silent'],
    [{ CARREL_TEST_POSTGRES: 'postgres://x', CARRELLED: 'x', PATH: '/bin' }, (c) => c.port, 8000],
    [{ CARREL_CLIENT_TOKEN: 'x' }, (c) => c.port, 8000],
  ]
  for (const [env, read, expected] of accepted) {
    it(`accepts ${JSON.stringify(env)}`, () => assert.deepEqual(read(readConfig({ env, cwd })), expected))
  }

  const refused: [env: Record<string, string>, message: string | RegExp][] = [
    [{ CARREL_HOST: 'a b' }, 'Set CARREL_HOST to an IP address or host name, not "a b".'],
    [{ CARREL_PORT: '65536' }, 'Set CARREL_PORT to a whole number from 0 to 65535, not "65536".'],
    [{ CARREL_PORT: '80a' }, /CARREL_PORT/],
    [{ CARREL_PORT: ' 80' }, /CARREL_PORT/],
    [{ CARREL_PORT: '-1' }, /CARREL_PORT/],
    [{ CARREL_PORT: '8e3' }, /CARREL_PORT/],
    [{ CARREL_PUBLIC_URL: 'files.example.org' }, /CARREL_PUBLIC_URL to a URL such as/],
    [{ CARREL_PUBLIC_URL: 'ftp://files.example.org' }, /CARREL_PUBLIC_URL/],
    [{ CARREL_PUBLIC_URL: 'https://u@files.example.org' }, /CARREL_PUBLIC_URL/],
    [{ CARREL_PUBLIC_URL: 'https://files.example.org/?a' }, /CARREL_PUBLIC_URL/],
    [{ CARREL_TRUSTED_PROXIES: 'proxy.example.org' }, /CARREL_TRUSTED_PROXIES/],
    [{ CARREL_TRUSTED_PROXIES: '10.0.0.0/33' }, /CARREL_TRUSTED_PROXIES/],
    [{ CARREL_TRUSTED_PROXIES: '10.0.0.0/8,' }, /CARREL_TRUSTED_PROXIES/],
    [{ CARREL_TRUSTED_PROXIES: '::1/8/8' }, /CARREL_TRUSTED_PROXIES/],
    [{ CARREL_ADMIN_EMAIL: 'admin' }, /CARREL_ADMIN_EMAIL to an e-mail address/],
    [{ CARREL_DATABASE: 'mysql://u:hidden@h' }, /CARREL_DATABASE to sqlite or a URL/],
    ...[
      '/srv/blocks',
      's3:bucket',
      's3://',
      's3://B',
      's3://bucket/a b',
      's3://bucket?endpoint=ftp://x',
      's3://bucket?path_style=yes',
      's3://bucket?region=a/b',
      's3://bucket?secret=x',
      's3://bucket?sse=ROT13',
      's3://bucket?sse=AES256&sse_kms_key_id=x',
      's3://bucket?sse_kms_key_id=x',
    ].map((text): [Record<string, string>, string] => [
      { CARREL_BLOCKS: text },
      `Set CARREL_BLOCKS to disk, or s3://bucket/prefix?endpoint=https://s3.example.org&region=us-east-1&path_style=1, not "${text}".`,
    ]),
    [
      { CARREL_BLOCK_CACHE_MB: '-1' },
      'Set CARREL_BLOCK_CACHE_MB to a whole number of megabytes from 0 to 100000000, not "-1".',
    ],
    [{ CARREL_SECRET: 'hidden' }, 'Set CARREL_SECRET to at least 16 characters.'],
    [
      { CARREL_METRICS_TOKEN: 'hidden' },
      'Set CARREL_METRICS_TOKEN to at least 16 characters without spaces.',
    ],
    [
      { CARREL_SECURITY_CONTACT: 'javascript:alert(1)' },
      'Set CARREL_SECURITY_CONTACT to an e-mail address, or a URI that begins with mailto:, https:// or tel:, not "javascript:alert(1)".',
    ],
    [{ CARREL_DEFAULT_QUOTA_MB: '-2' }, /CARREL_DEFAULT_QUOTA_MB/],
    [{ CARREL_MAX_UPLOAD_MB: '1GB' }, /CARREL_MAX_UPLOAD_MB/],
    [{ CARREL_MAX_ARCHIVE_MB: 'unlimited' }, /CARREL_MAX_ARCHIVE_MB/],
    [{ CARREL_MAX_COPY_MB: '-1' }, /CARREL_MAX_COPY_MB/],
    [
      { CARREL_MAX_COPY_FILES: '1.5' },
      'Set CARREL_MAX_COPY_FILES to a whole number of files, or 0 for unlimited, not "1.5".',
    ],
    [{ CARREL_MAX_COPY_FILES: '-1' }, /CARREL_MAX_COPY_FILES/],
    [{ CARREL_TASKS_AT_ONCE: '0' }, /CARREL_TASKS_AT_ONCE to a whole number from 1 to 64/],
    [{ CARREL_TASKS_AT_ONCE: '65' }, /CARREL_TASKS_AT_ONCE/],
    [{ CARREL_HISTORY_DAYS: '-2' }, /CARREL_HISTORY_DAYS/],
    [{ CARREL_TICKET_SECONDS: '0' }, /CARREL_TICKET_SECONDS/],
    [
      { CARREL_TEST_BOUNDARY_SEARCH: 'slow' },
      'Set CARREL_TEST_BOUNDARY_SEARCH to plain or fast, not "slow".',
    ],
    [
      { CARREL_BACKUP_KEEP: 'all' },
      'Set CARREL_BACKUP_KEEP to counts such as last=3,daily=7,weekly=5,monthly=12, not "all".',
    ],
    [{ CARREL_BACKUP_TARGET: 's3://b.c?secret=x' }, /^Set CARREL_BACKUP_TARGET to the path/],
    [{ CARREL_DISK: 'slow' }, 'Set CARREL_DISK to plain or fast, not "slow".'],
    [{ CARREL_HTTP: 'apache' }, 'Set CARREL_HTTP to fast or node, not "apache".'],
    [{ CARREL_TLS_CERT: 'a' }, 'Set both CARREL_TLS_CERT and CARREL_TLS_KEY, or neither.'],
    [{ CARREL_TLS_KEY: 'a' }, 'Set both CARREL_TLS_CERT and CARREL_TLS_KEY, or neither.'],
    [
      { CARREL_HTTP: 'fast', CARREL_TLS_CERT: 'a', CARREL_TLS_KEY: 'b' },
      'Set CARREL_HTTP to node, or unset CARREL_TLS_CERT and CARREL_TLS_KEY: only the node implementation serves HTTPS.',
    ],
    [{ CARREL_RATE_LIMIT: 'no' }, 'Set CARREL_RATE_LIMIT to on or off, not "no".'],
    [{ CARREL_QUOTA_STATUS: '507' }, /CARREL_QUOTA_STATUS/],
    [{ CARREL_SECOND_FACTOR: 'on' }, /CARREL_SECOND_FACTOR/],
    [{ CARREL_SHARE_ACCEPTANCE: 'on' }, /CARREL_SHARE_ACCEPTANCE/],
    [{ CARREL_PROCESSES: '0' }, 'Set CARREL_PROCESSES to a whole number from 1 to 64, or auto, not "0".'],
    [{ CARREL_THREADS: '1.5' }, /CARREL_THREADS/],
    [{ CARREL_LOG: 'verbose' }, /CARREL_LOG/],
    [{ CARREL_PROT: '80' }, /^Unset CARREL_PROT or correct its name/],
    [{ CARREL_: '' }, /^Unset CARREL_ or/],
  ]
  for (const [env, expected] of refused) {
    it(`rejects ${JSON.stringify(env)} in one sentence`, () => {
      const message = refusal(() => readConfig({ env, cwd }))
      if (typeof expected === 'string') assert.equal(message, expected)
      else assert.match(message, expected)
      assert.match(message, /^[A-Z].*\.$/)
      assert.doesNotMatch(message, /hidden/)
    })
  }
})

describe('the sources of the configuration', () => {
  it('prefer a flag to a variable, a variable to the file, and the file to the default', () => {
    const data = dataWith({ port: 1, 'ticket-seconds': 10, log: 'warn' })
    const env = { CARREL_DATA: data, CARREL_PORT: '2', CARREL_TICKET_SECONDS: '20' }
    const config = readConfig({ env, flags: { port: '3' }, cwd })
    assert.deepEqual([config.port, config.ticketSeconds, config.log, config.historyDays], [3, 20, 'warn', -1])
  })

  it('find the file by the flag for the data folder', () => {
    const env = { CARREL_DATA: dataWith({ port: 1 }) }
    assert.equal(readConfig({ env, flags: { data: dataWith({ port: 2 }) }, cwd }).port, 2)
  })

  it("accept flags in commander's spelling, and ignore missing ones", () => {
    const config = readConfig({ env: {}, flags: { ticketSeconds: '5', 'public-url': undefined }, cwd })
    assert.equal(config.ticketSeconds, 5)
  })

  it('accept numbers, booleans and lists in the file, under either name', () => {
    const data = dataWith({ CARREL_PORT: 81, 'rate-limit': false, 'trusted-proxies': ['::1', '10.0.0.0/8'] })
    const config = readConfig({ env: { CARREL_DATA: data }, cwd })
    assert.deepEqual(
      [config.port, config.rateLimit, config.trustedProxies],
      [81, false, ['::1', '10.0.0.0/8']],
    )
  })

  const refusedFlags: [flags: Record<string, unknown>, message: string][] = [
    [{ port: 'x' }, 'Set --port to a whole number from 0 to 65535, not "x".'],
    [{ host: '' }, 'Set --host to an IP address or host name.'],
    [{ publicURL: 'x' }, 'Leave out --public-u-r-l: there is no such flag (see carrel serve --help).'],
    [{ data: {} }, 'Give --data one value.'],
  ]
  for (const [flags, expected] of refusedFlags) {
    it(`reject the flags ${JSON.stringify(flags)}`, () => {
      assert.equal(
        refusal(() => readConfig({ env: {}, flags, cwd })),
        expected,
      )
    })
  }

  const refusedFiles: [carrelJson: unknown, message: (file: string) => string][] = [
    ['{"port": 1,}', (file) => `Correct ${file}: it is not valid JSON.`],
    ['', (file) => `Correct ${file}: it is not valid JSON.`],
    [[1], (file) => `Correct ${file}: it must hold one JSON object.`],
    [{ prot: 1 }, (file) => `Remove "prot" from ${file} or correct its name: there is no such setting.`],
    [
      '{"__proto__": 1}',
      (file) => `Remove "__proto__" from ${file} or correct its name: there is no such setting.`,
    ],
    [{ port: null }, (file) => `Write "port" in ${file} as text, a number, or true or false.`],
    [{ port: 1.5 }, (file) => `Set "port" in ${file} to a whole number from 0 to 65535, not "1.5".`],
    [{ data: 'x' }, (file) => `Remove "data" from ${file}: the file is found by that folder, so use --data.`],
    [
      { port: 1, CARREL_PORT: 2 },
      (file) => `Remove "port" or "CARREL_PORT" from ${file}: they are one setting.`,
    ],
  ]
  for (const [carrelJson, expected] of refusedFiles) {
    it(`reject a carrel.json that holds ${JSON.stringify(carrelJson)}`, () => {
      const data = dataWith(carrelJson)
      const message = refusal(() => readConfig({ env: {}, flags: { data }, cwd }))
      assert.equal(message, expected(path.join(data, 'carrel.json')))
    })
  }
})

describe('a setting of an earlier release', () => {
  it('still works, and the start says what replaces it', () => {
    const { notices, backup } = readConfig({ env: { CARREL_BACKUP_KEEP_LAST: '1' }, cwd })
    assert.equal(backup.keep.last, 1)
    assert.deepEqual(notices, ['CARREL_BACKUP_KEEP_LAST still works, but is replaced by CARREL_BACKUP_KEEP.'])
  })

  it('is ignored if operators have no use for it, and the start says so', () => {
    const data = dataWith({ 'boundary-search': 'plain' })
    const env = { CARREL_DATA: data, CARREL_DATABASE_RESULTS: 'anything' }
    const { notices, boundarySearch, databaseResults } = readConfig({ env, flags: { reserveMb: '5' }, cwd })
    assert.deepEqual([boundarySearch, databaseResults], ['fast', 'binary'])
    assert.deepEqual(notices, [
      '--reserve-mb is ignored: it is not a setting any more. Remove it.',
      'CARREL_DATABASE_RESULTS is ignored: it is not a setting any more. Remove it.',
      `"boundary-search" in ${path.join(data, 'carrel.json')} is ignored: it is not a setting any more. Remove it.`,
    ])
  })
})

describe('the table of settings', () => {
  it('has one name in three spellings per setting', () => {
    const quota = settings.find(({ name }) => name === 'default-quota-mb')
    assert.equal(quota?.env, 'CARREL_DEFAULT_QUOTA_MB')
    assert.equal(quota?.flag, '--default-quota-mb')
    assert.equal(quota?.default, 'unlimited')
    assert.equal(settings.find(({ name }) => name === 'host')?.default, '127.0.0.1')
  })

  it('describes every setting', () => {
    assert.ok(settings.length > 40)
    for (const setting of settings) {
      assert.ok(setting.default && setting.meaning && setting.placeholder, setting.name)
    }
  })
})
