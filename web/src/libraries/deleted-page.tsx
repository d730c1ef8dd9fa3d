import './libraries.css'
import { useQueryClient } from '@tanstack/react-query'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import {
  type DeletedLibrary,
  purgeAllLibraries,
  purgeLibrary,
  restoreLibrary,
  useDeletedLibraries,
} from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Button,
  Empty,
  FormDialog,
  LoadError,
  useFailureToast,
  useTitle,
  useToast,
  Waiting,
} from '../ui/index.ts'
import { LibraryIcon } from './library-row.tsx'
import { NamedLibrary } from './named-library.tsx'

/** Deleted libraries, to restore or delete permanently. */
export default function DeletedPage() {
  const texts = useTexts('libraries')
  useTitle(texts.deletedTitle)
  const { data, error, refetch } = useDeletedLibraries()
  const [purged, setPurged] = useState<DeletedLibrary | 'all'>()
  const close = () => setPurged(undefined)
  const some = data !== undefined && data.length > 0
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.deletedTitle}</h1>
        {some && (
          <Button icon={Trash2} onClick={() => setPurged('all')}>
            {texts.purgeAll}
          </Button>
        )}
      </div>
      {data === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {data?.length === 0 && <Empty icon={Trash2} title={texts.deletedEmpty} hint={texts.deletedEmptyHint} />}
      {some && (
        <>
          <p className="muted">{texts.deletedHint}</p>
          <Table libraries={data} onPurge={setPurged} />
        </>
      )}
      {purged === 'all' && <PurgeAllDialog count={data?.length ?? 0} onClose={close} />}
      {typeof purged === 'object' && <PurgeDialog library={purged} onClose={close} />}
    </div>
  )
}

function Table(props: { libraries: readonly DeletedLibrary[]; onPurge: (library: DeletedLibrary) => void }) {
  const texts = useTexts('libraries')
  const common = useTexts('common')
  return (
    <table className="table libraries-table" aria-label={texts.deletedTitle}>
      <thead>
        <tr>
          <th className="libraries-name">{common.name}</th>
          <th className="libraries-size">{common.size}</th>
          <th className="libraries-modified">{texts.deletedAt}</th>
          <th className="libraries-actions">
            <span className="visually-hidden">{texts.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.libraries.map((library) => (
          <Row key={library.repo_id} library={library} onPurge={props.onPurge} />
        ))}
      </tbody>
    </table>
  )
}

function Row(props: { library: DeletedLibrary; onPurge: (library: DeletedLibrary) => void }) {
  const { repo_id: id, repo_name: name, size, del_time: deletedAt, encrypted } = props.library
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const formats = useFormats()
  const toast = useToast()
  const failed = useFailureToast()
  const refresh = useRefresh()
  const [busy, setBusy] = useState(false)

  async function restore(): Promise<void> {
    setBusy(true)
    try {
      await restoreLibrary(id)
      toast({ text: texts.restored(name) })
    } catch (error) {
      failed(error)
      setBusy(false)
    }
    await refresh()
  }

  return (
    <tr>
      <td className="libraries-name">
        <span className="libraries-link" title={name}>
          <LibraryIcon encrypted={encrypted} />
          <span className="libraries-words">
            <bdi className="libraries-title">{name}</bdi>
            <span className="libraries-meta muted">
              {formats.size(size)} · {formats.ago(deletedAt)}
            </span>
          </span>
        </span>
      </td>
      <td className="libraries-size">{formats.size(size)}</td>
      <td className="libraries-modified">
        <time dateTime={deletedAt} title={formats.moment(deletedAt)}>
          {formats.when(deletedAt)}
        </time>
      </td>
      <td className="libraries-actions">
        <span className="row-actions">
          <Button icon={RotateCcw} busy={busy} onClick={() => void restore()}>
            <span className="libraries-action-text">{common.restore}</span>
          </Button>
          <Button icon={Trash2} title={texts.purge} onClick={() => props.onPurge(props.library)}>
            <span className="visually-hidden">{`${texts.purge}: ${name}`}</span>
          </Button>
        </span>
      </td>
    </tr>
  )
}

function PurgeDialog(props: { library: DeletedLibrary; onClose: () => void }) {
  const { repo_id: id, repo_name: name, encrypted, size } = props.library
  const texts = useTexts('libraries')
  const toast = useToast()
  const refresh = useRefresh()
  async function purge(): Promise<void> {
    await purgeLibrary(id)
    await refresh()
    toast({ text: texts.purged(name) })
  }
  return (
    <FormDialog title={texts.purgeTitle} submit={texts.purge} danger onSubmit={purge} onClose={props.onClose}>
      <NamedLibrary lead={texts.purgeLead} name={name} encrypted={encrypted} size={size} />
      <p>{texts.purgeText}</p>
    </FormDialog>
  )
}

function PurgeAllDialog(props: { count: number; onClose: () => void }) {
  const texts = useTexts('libraries')
  const toast = useToast()
  const refresh = useRefresh()
  async function purge(): Promise<void> {
    await purgeAllLibraries()
    await refresh()
    toast({ text: texts.purgedAll })
  }
  return (
    <FormDialog
      title={texts.purgeAllTitle}
      submit={texts.purgeAll}
      danger
      onSubmit={purge}
      onClose={props.onClose}
    >
      <p>{texts.purgeAllText(props.count)}</p>
    </FormDialog>
  )
}

function useRefresh(): () => Promise<void> {
  const queries = useQueryClient()
  return async () => {
    void queries.invalidateQueries({ queryKey: ['libraries'] })
    void queries.invalidateQueries({ queryKey: ['account'] })
    await queries.invalidateQueries({ queryKey: ['deleted-libraries'] })
  }
}
