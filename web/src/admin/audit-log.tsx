import { Download, ScrollText } from 'lucide-react'
import { useState } from 'react'
import { type AuditEntry, type AuditFilter, fetchAudit, useAudit } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, SelectField, TextField, useAction, useDebounced } from '../ui/index.ts'
import { Named, PagedTable } from './paged-table.tsx'
import { saveBlob } from './save-blob.ts'

const none = { actor: '', action: '', object_id: '', from: '', to: '' }

/** The audit log with filters and export. */
export function AuditLog() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const [sought, setSought] = useState(none)
  const settled = useDebounced(sought, 300)
  const filter = filterOf(settled)
  const log = useAudit(filter)
  const set = (change: Partial<typeof none>) => setSought({ ...sought, ...change })
  const actions: Readonly<Record<string, string>> = texts.actionNames
  return (
    <>
      <div className="admin-filters">
        <TextField
          label={texts.actor}
          value={sought.actor}
          onChange={(event) => set({ actor: event.target.value })}
        />
        <SelectField
          label={texts.action}
          value={sought.action}
          onChange={(event) => set({ action: event.target.value })}
        >
          <option value="">{texts.anyAction}</option>
          {Object.entries(actions).map(([action, name]) => (
            <option key={action} value={action}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label={texts.object}
          value={sought.object_id}
          onChange={(event) => set({ object_id: event.target.value })}
        />
        <TextField
          type="date"
          label={texts.from}
          value={sought.from}
          onChange={(event) => set({ from: event.target.value })}
        />
        <TextField
          type="date"
          label={texts.to}
          value={sought.to}
          onChange={(event) => set({ to: event.target.value })}
        />
        <Export filter={filter} />
      </div>
      <PagedTable
        label={texts.sections.audit}
        query={log}
        keyOf={({ id }) => id}
        empty={{ icon: ScrollText, title: texts.nothingInLog }}
        columns={[
          {
            head: texts.action,
            cell: (entry) => (
              <Named
                name={actions[entry.action] ?? entry.action}
                about={<bdi>{objectOf(entry)}</bdi>}
                title={objectOf(entry)}
                narrow={
                  <>
                    <bdi>{entry.actor}</bdi> · {formats.moment(entry.time)}
                  </>
                }
              />
            ),
          },
          {
            head: texts.actor,
            cell: ({ actor, address }) => <Named name={actor} title={actor} about={address} />,
            wide: true,
          },
          { head: texts.details, cell: ({ detail }) => <Details detail={detail} />, wide: true },
          {
            head: texts.time,
            cell: ({ time }) => <time dateTime={time}>{formats.moment(time)}</time>,
            wide: true,
          },
        ]}
      />
    </>
  )
}

function Export(props: { filter: AuditFilter }) {
  const texts = useTexts('admin')
  const act = useAction('admin')
  const [busy, setBusy] = useState(false)
  async function save(): Promise<void> {
    setBusy(true)
    await act(async () => saveBlob(await fetchAudit(props.filter), 'audit-log.ndjson'))
    setBusy(false)
  }
  return (
    <Button icon={Download} busy={busy} onClick={() => void save()}>
      {texts.exportLog}
    </Button>
  )
}

function Details(props: { detail: AuditEntry['detail'] }) {
  const text = Object.entries(props.detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
  return <bdi className="admin-details">{text}</bdi>
}

const objectOf = ({ object_id, path }: AuditEntry) => `${object_id}${path === '' ? '' : ` ${path}`}`

/** Filters that are set. Days are in the local time zone. */
function filterOf(sought: typeof none): AuditFilter {
  const moment = (day: string, time: string) =>
    day === '' ? undefined : new Date(`${day}T${time}`).toISOString()
  return {
    actor: sought.actor.trim() || undefined,
    action: sought.action || undefined,
    object_id: sought.object_id.trim() || undefined,
    from: moment(sought.from, '00:00:00'),
    to: moment(sought.to, '23:59:59'),
  }
}
