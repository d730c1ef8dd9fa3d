import './offline.css'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { isKept, useAccount } from '../api/index.ts'
import { fileUrl } from '../navigation/index.ts'
import limits from '../offline-limits.json' with { type: 'json' }
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ConfirmDialog, LoadError, useToast, Waiting } from '../ui/index.ts'
import { deleteDraft, listDrafts, type StoredDraft } from '../viewer/index.ts'
import { type KeptData, readKeptData, removeKeptData } from './kept-data.ts'

/** What this device keeps for the time without a connection, its limits, and a button to remove it. */
export default function OfflineSection() {
  const texts = useTexts('account')
  const toast = useToast()
  const account = useAccount().data?.email
  const { data, error, refetch } = useQuery({
    queryKey: ['kept-data', account],
    queryFn: async () => ({
      kept: await readKeptData(),
      drafts: account === undefined ? [] : listDrafts(account),
    }),
    gcTime: 0,
    staleTime: 0,
  })
  const [asks, setAsks] = useState(false)
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const { kept, drafts } = data

  async function remove(): Promise<void> {
    for (const draft of drafts) deleteDraft(draft)
    await removeKeptData()
    await refetch()
    toast({ text: texts.keptRemoved })
  }

  return (
    <div className="account-parts">
      <section className="card account-card stack">
        <h2>{texts.offline}</h2>
        <p className="muted">{texts.offlineHint}</p>
        {!kept.isKeeping && <p role="status">{isKept() ? texts.keepsNothing : texts.keepsNothingOfTab}</p>}
        <Amounts kept={kept} drafts={drafts} />
        {kept.leftOut > 0 && <p>{texts.starsLeftOut(kept.leftOut)}</p>}
        <p className="muted">{texts.offlineEncrypted}</p>
        <p className="muted">{texts.offlineSignOut}</p>
        <div>
          <Button onClick={() => setAsks(true)}>{texts.removeKept}</Button>
        </div>
      </section>
      <Items title={texts.keptFiles} items={kept.files} />
      <Items title={texts.keptDrafts} items={drafts} />
      {asks && (
        <ConfirmDialog
          title={texts.removeKeptTitle}
          text={drafts.length > 0 ? texts.removeKeptDrafts(drafts.length) : texts.removeKeptText}
          submit={texts.removeKept}
          onConfirm={remove}
          onClose={() => setAsks(false)}
        />
      )}
    </div>
  )
}

function Amounts({ kept, drafts }: { kept: KeptData; drafts: readonly StoredDraft[] }) {
  const texts = useTexts('account')
  const formats = useFormats()
  const sum = (items: readonly { bytes: number }[]) => items.reduce((bytes, one) => bytes + one.bytes, 0)
  const rows = [
    {
      name: texts.keptLists,
      ...kept.lists,
      limit: texts.keptLimit(limits.lists, formats.size(limits.allListsBytes)),
    },
    {
      name: texts.keptFiles,
      count: kept.files.length,
      bytes: sum(kept.files),
      limit: texts.keptFilesLimit(
        limits.files,
        formats.size(limits.allFilesBytes),
        formats.size(limits.fileBytes),
      ),
    },
    {
      name: texts.keptDrafts,
      count: drafts.length,
      bytes: sum(drafts),
      limit: texts.keptLimit(limits.drafts, formats.size(limits.allDraftsBytes)),
    },
    { name: texts.keptViewers, ...kept.viewers, limit: texts.keptViewersLimit },
    { name: texts.keptApp, ...kept.app, limit: texts.keptParts(limits.parts) },
  ]
  return (
    <ul className="kept" aria-label={texts.offline}>
      {rows.map(({ name, count, bytes, limit }) => (
        <li key={name}>
          <span className="kept-name">{name}</span>
          <span>{count === 0 ? texts.keptNone : texts.keptAmount(count, formats.size(bytes))}</span>
          <span className="muted kept-limit">{limit}</span>
        </li>
      ))}
    </ul>
  )
}

function Items(props: {
  title: string
  items: readonly { libraryId: string; path: string; bytes: number }[]
}) {
  const formats = useFormats()
  if (props.items.length === 0) return null
  return (
    <section className="stack">
      <h2>{props.title}</h2>
      <ul className="card account-list" aria-label={props.title}>
        {props.items.map(({ libraryId, path, bytes }) => (
          <li key={libraryId + path} className="account-item">
            <div className="account-item-words">
              <Link className="account-item-title" to={fileUrl(libraryId, path)}>
                <bdi>{nameOf(path)}</bdi>
              </Link>
              <span className="muted account-item-facts">
                <bdi>{path}</bdi> · {formats.size(bytes)}
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
