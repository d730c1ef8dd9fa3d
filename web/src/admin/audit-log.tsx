import { Download, ScrollText } from 'lucide-react'
import { useState } from 'react'
import { type AuditEntry, type AuditFilter, fetchAudit, useAudit } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, DateField, SelectField, TextField, useAction, useDebounced } from '../ui/index.ts'
import { detailLines } from './audit-details.ts'
import { Named, PagedTable } from './paged-table.tsx'
import { saveBlob } from './save-blob.ts'

const none = { actor: '', action: '', object_id: '', from: '', to: '' }

/** The audit log with filters and export. */
export function AuditLog() {
  const texts = useTexts('admin')
  const formats = useFormats()
  const [filters, setFilters] = useState(none)
  const settled = useDebounced(filters, 300)
  const filter = filterOf(settled)
  const log = useAudit(filter)
  const set = (change: Partial<typeof none>) => setFilters({ ...filters, ...change })
  const actions: Readonly<Record<string, string>> = texts.actionNames
  return (
    <>
      <div className="admin-filters">
        <TextField
          label={texts.actor}
          value={filters.actor}
          onChange={(event) => set({ actor: event.target.value })}
        />
        <SelectField
          label={texts.action}
          value={filters.action}
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
          value={filters.object_id}
          onChange={(event) => set({ object_id: event.target.value })}
        />
        <DateField label={texts.from} value={filters.from} onChange={(from) => set({ from })} />
        <DateField label={texts.to} value={filters.to} min={filters.from} onChange={(to) => set({ to })} />
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
          { head: texts.details, cell: (entry) => <Details entry={entry} />, wide: true },
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

function Details(props: { entry: AuditEntry }) {
  const texts = useTexts('admin')
  const sharing = useTexts('sharing')
  const formats = useFormats()
  const { yes, no, ...values } = texts.detailValues
  const lines = detailLines(
    props.entry,
    {
      names: { ...texts.detailNames, recipient: sharing.sharedWith },
      yes,
      no,
      values: {
        permission: { ...sharing.permissions, upload: values.upload },
        recipient: { everyone: sharing.everyone },
        password: values,
        kind: { share: values.share, upload: values.upload },
        status: { 'read-only': texts.readOnly, normal: values.normal },
        role: { admin: texts.administrator, guest: texts.guest, default: texts.plainUser },
        reason: values,
        mailNotices: values,
        of: { webdav: 'WebDAV' },
      },
    },
    formats,
  )
  return (
    <ul className="admin-details">
      {lines.map(({ key, name, value }) => (
        <li key={key}>
          {name}: <bdi>{value}</bdi>
        </li>
      ))}
    </ul>
  )
}

const objectOf = ({ object_id, path }: AuditEntry) => `${object_id}${path === '' ? '' : ` ${path}`}`

/** Filters that are set. Days are in the local time zone. */
function filterOf(filters: typeof none): AuditFilter {
  const moment = (day: string, time: string) =>
    day === '' ? undefined : new Date(`${day}T${time}`).toISOString()
  return {
    actor: filters.actor.trim() || undefined,
    action: filters.action || undefined,
    object_id: filters.object_id.trim() || undefined,
    from: moment(filters.from, '00:00:00'),
    to: moment(filters.to, '23:59:59'),
  }
}
