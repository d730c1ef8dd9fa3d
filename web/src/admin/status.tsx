import { CircleAlert, CircleCheck, CircleMinus, Hourglass } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type ServerNode, type ServerStatus, useServerStatus, useUnreadTexts } from '../api/index.ts'
import { TestMail } from '../onboarding/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ButtonLink, Dialog, LoadError, Progress, Waiting } from '../ui/index.ts'
import { purposes, SplitBar, storedTotal } from './split-bar.tsx'

/** Below this fraction of free space a warning is shown. */
const LITTLE_ROOM = 0.1

/** Current state of the server. */
export function Status() {
  const status = useServerStatus()
  if (status.isPending) return <Waiting />
  if (status.isError) return <LoadError error={status.error} onRetry={() => void status.refetch()} />
  const { data } = status
  return (
    <div className="admin-panels">
      <Health status={data} />
      <Integrity status={data} />
      <Backups status={data} />
      <Mail status={data} />
      <Server status={data} />
      <Nodes status={data} />
      <Stored status={data} />
      <Collection status={data} />
      <SearchIndex status={data} />
      <Jobs status={data} />
    </div>
  )
}

function Panel(props: { title: string; wide?: boolean; children: ReactNode }) {
  return (
    <section className={`card admin-panel${props.wide ? ' admin-panel-wide' : ''}`}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  )
}

function Facts(props: { facts: readonly (readonly [name: string, value: ReactNode, hint?: string])[] }) {
  return (
    <dl className="admin-facts">
      {props.facts.map(([name, value, hint]) => (
        <div key={name} title={hint}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Health(props: { status: ServerStatus }) {
  const { checks, disk } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  const hasRoom = disk === null || disk.free / disk.total > LITTLE_ROOM
  return (
    <Panel title={texts.health}>
      <ul className="admin-checks">
        {checks.map(({ name, ok }) => (
          <Check key={name} ok={ok} text={ok ? texts.checks[name] : texts.checksFailed[name]} />
        ))}
        {disk && <Check ok={hasRoom} text={hasRoom ? texts.enoughRoom : texts.littleRoom} />}
      </ul>
      {disk && (
        <div className="admin-disk">
          <Progress value={1 - disk.free / disk.total} label={texts.diskUsed} />
          <span className="muted">{texts.freeOf(formats.size(disk.free), formats.size(disk.total))}</span>
        </div>
      )}
    </Panel>
  )
}

/** Whether stored data is known to be damaged, and since when it was not read. */
function Integrity(props: { status: ServerStatus }) {
  const { last_check, check_unfinished_since: unfinished, integrity } = props.status
  const { damaged_blocks: damaged, check_findings: findings, scrub } = integrity
  const texts = useTexts('admin')
  const formats = useFormats()
  const moment = (time: string | null) => (time === null ? texts.never : formats.moment(time))
  return (
    <Panel title={texts.integrity}>
      <ul className="admin-checks">
        <Check ok={damaged === 0} text={damaged === 0 ? texts.noDamage : texts.damagedBlocks(damaged)} />
        {findings !== null && findings > 0 && <Check ok={false} text={texts.checkFindings(findings)} />}
        {unfinished !== null && <Check ok={false} busy text={texts.checkBegan(formats.moment(unfinished))} />}
      </ul>
      {(damaged > 0 || (findings ?? 0) > 0) && (
        <Command text={texts.repairWith} command="carrel repair --from /mnt/backup" />
      )}
      <Facts
        facts={[
          [texts.lastCheck, moment(last_check)],
          [texts.lastScrub, moment(scrub?.last_finished_at ?? null)],
          ...(scrub === null ? [] : [[texts.scrubSoFar, formats.size(scrub.bytes)] as const]),
        ]}
      />
    </Panel>
  )
}

function Backups(props: { status: ServerStatus }) {
  const { last_backup, last_verified_backup, backup_failure } = props.status
  const { backup_unfinished_since: unfinished } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  const moment = (time: string | null) => (time === null ? texts.never : formats.moment(time))
  return (
    <Panel title={texts.backups}>
      <ul className="admin-checks">
        {backup_failure ? (
          <Check
            ok={false}
            text={texts.backupFailed(formats.moment(backup_failure.at), backup_failure.message)}
          />
        ) : (
          <Check
            ok={last_backup !== null}
            text={last_backup === null ? texts.notBackedUp : texts.hasBackup}
          />
        )}
        {unfinished !== null && (
          <Check ok={false} busy text={texts.backupBegan(formats.moment(unfinished))} />
        )}
      </ul>
      {last_backup === null && unfinished === null && (
        <Command text={texts.noBackup} command="carrel backup /mnt/backup" />
      )}
      <Facts
        facts={[
          [texts.lastBackup, moment(last_backup)],
          [texts.lastVerifiedBackup, moment(last_verified_backup)],
        ]}
      />
    </Panel>
  )
}

function Mail(props: { status: ServerStatus }) {
  const { mail } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  return (
    <Panel title={texts.mail}>
      <ul className="admin-checks">
        {mail.last_error !== null && <Check ok={false} text={texts.mailError(mail.last_error)} />}
        {mail.last_error === null && (
          <CheckLine
            state={mail.configured ? 'good' : 'off'}
            text={mail.configured ? texts.mailWorks : texts.mailNone}
          />
        )}
      </ul>
      {mail.configured && (
        <>
          <Facts
            facts={[
              [texts.mailWaiting, formats.number(mail.waiting)],
              [texts.mailSent, formats.number(mail.sent_24h)],
              [texts.mailFailed, formats.number(mail.failed_24h)],
            ]}
          />
          <TestMail />
        </>
      )}
    </Panel>
  )
}

function Command(props: { text: string; command: string }) {
  return (
    <p className="muted admin-command">
      {props.text} <code>{props.command}</code>
    </p>
  )
}

/** `busy` is a state that resolves by itself. */
function Check(props: { ok: boolean; busy?: boolean; text: string }) {
  return <CheckLine state={props.ok ? 'good' : props.busy ? 'busy' : 'bad'} text={props.text} />
}

/** `off` is a feature that is not in use. */
function CheckLine(props: { state: 'good' | 'busy' | 'bad' | 'off'; text: string }) {
  const { state } = props
  const Icon = { good: CircleCheck, busy: Hourglass, bad: CircleAlert, off: CircleMinus }[state]
  return (
    <li className={`admin-${state}`}>
      <Icon size={18} aria-hidden />
      {props.text}
    </li>
  )
}

function Server(props: { status: ServerStatus }) {
  const { version, database, blocks, started_at } = props.status
  const texts = useTexts('admin')
  const onboarding = useTexts('onboarding')
  const formats = useFormats()
  return (
    <Panel title={texts.server}>
      <Facts
        facts={[
          [texts.version, version],
          [texts.running, formats.ago(started_at)],
          [texts.database, database === 'sqlite' ? 'SQLite' : 'PostgreSQL'],
          [texts.blocks, texts.blockKinds[blocks]],
        ]}
      />
      <div>
        <ButtonLink to="/admin/setup">{onboarding.openSetup}</ButtonLink>
      </div>
    </Panel>
  )
}

/** All nodes, if there are several. */
function Nodes(props: { status: ServerStatus }) {
  const { nodes } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  if (nodes.length < 2) return null
  const textOf = ({ address, version, alive, heartbeat_at }: ServerNode) => {
    if (alive) return texts.nodeRunning(address, version)
    return heartbeat_at === null
      ? texts.nodeStopped(address)
      : texts.nodeSilent(address, formats.moment(heartbeat_at))
  }
  return (
    <Panel title={texts.nodes}>
      <ul className="admin-checks">
        {nodes.map((node) => (
          <Check key={node.id} ok={node.alive} busy={node.heartbeat_at === null} text={textOf(node)} />
        ))}
      </ul>
    </Panel>
  )
}

function Stored(props: { status: ServerStatus }) {
  const { stored } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  return (
    <Panel title={texts.sections.storage} wide>
      <Facts
        facts={[
          [texts.fileSize, formats.size(stored.file_size), texts.fileSizeHint],
          [texts.stored, formats.size(storedTotal(stored)), texts.storedHint],
          [
            texts.onDisk,
            stored.on_disk === null
              ? texts.notCounted
              : texts.onDiskAt(
                  formats.size(stored.on_disk.bytes),
                  formats.number(stored.on_disk.blocks),
                  formats.date(stored.on_disk.day),
                ),
            texts.onDiskHint,
          ],
        ]}
      />
      <SplitBar bytes={stored} />
      <ul className="admin-legend">
        {purposes.map((purpose) => (
          <li key={purpose} title={texts.purposeHints[purpose]}>
            <span className={`admin-key admin-key-${purpose}`} />
            {texts.purposes[purpose]}
            <strong>{formats.size(stored[purpose])}</strong>
          </li>
        ))}
      </ul>
      {stored.uncounted_repos > 0 && <p className="muted">{texts.uncounted(stored.uncounted_repos)}</p>}
    </Panel>
  )
}

/** Garbage collection. */
function Collection(props: { status: ServerStatus }) {
  const { gc } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  const failed = gc.failure === null ? texts.gcFailed : texts.gcFailedBecause(gc.failure)
  const isRunning = gc.running && gc.last_began_at !== null
  const state = isRunning
    ? texts.gcBegan(formats.moment(gc.last_began_at))
    : gc.failed
      ? failed
      : texts.gcIdle
  return (
    <Panel title={texts.gc}>
      <ul className="admin-checks">
        <Check ok={!gc.failed && !isRunning} busy={isRunning} text={state} />
      </ul>
      <Facts
        facts={[
          [texts.gcLast, gc.last_ended_at === null ? texts.never : formats.ago(gc.last_ended_at)],
          [texts.gcFreed, formats.size(gc.freed_bytes)],
          [texts.gcWaiting, formats.size(gc.waiting_bytes)],
        ]}
      />
    </Panel>
  )
}

function SearchIndex(props: { status: ServerStatus }) {
  const { search } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  const [showsUnread, setShowsUnread] = useState(false)
  const isBehind = search.commits_behind > 0 || search.texts_waiting > 0
  return (
    <Panel title={texts.searchIndex}>
      <ul className="admin-checks">
        <Check ok={!isBehind} busy text={isBehind ? texts.indexBehind : texts.indexCurrent} />
      </ul>
      <Facts
        facts={[
          [texts.commitsBehind, formats.number(search.commits_behind)],
          [texts.timeBehind, formats.duration(search.seconds_behind)],
          [texts.textsWaiting, formats.number(search.texts_waiting)],
          [texts.textsFailed, formats.number(search.texts_failed)],
        ]}
      />
      {search.texts_failed > 0 && <Button onClick={() => setShowsUnread(true)}>{texts.showUnread}</Button>}
      {showsUnread && <Unread onClose={() => setShowsUnread(false)} />}
    </Panel>
  )
}

function Unread(props: { onClose: () => void }) {
  const texts = useTexts('admin')
  const unread = useUnreadTexts(true)
  return (
    <Dialog wide title={texts.textsFailed} onClose={props.onClose}>
      {unread.isPending && <Waiting />}
      {unread.isError && <LoadError error={unread.error} onRetry={() => void unread.refetch()} />}
      <ul className="sharing-rows">
        {unread.data?.search_failure_list.map(({ repo_id, repo_name, path, reason }) => (
          <li key={`${repo_id}${path}`} className="sharing-row">
            <span className="sharing-names">
              <bdi title={path}>{`${repo_name}${path}`}</bdi>
              <span className="muted">{reason}</span>
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function Jobs(props: { status: ServerStatus }) {
  const { tasks, maintenance } = props.status
  const texts = useTexts('admin')
  const formats = useFormats()
  const last = maintenance
    .map(({ ended_at }) => ended_at)
    .sort()
    .at(-1)
  const failed = maintenance.filter((job) => job.failed)
  return (
    <Panel title={texts.jobs}>
      <ul className="admin-checks">
        <Check
          ok={failed.length === 0}
          text={
            failed.length === 0
              ? texts.maintenanceFine
              : texts.maintenanceFailed(failed.map(({ name }) => name).join(', '))
          }
        />
      </ul>
      <Facts
        facts={[
          [texts.tasksRunning, formats.number(tasks.running)],
          [texts.tasksQueued, formats.number(tasks.queued)],
          [texts.lastMaintenance, last === undefined ? texts.never : formats.ago(last)],
        ]}
      />
    </Panel>
  )
}
