import './libraries.css'
import './storage.css'
import { Link, useParams } from 'wouter'
import { type OwnLibraryUsage, useAccount, useOwnUsage } from '../api/index.ts'
import { storageUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { LoadError, LoadMore, Progress, useTitle, visibleName, Waiting } from '../ui/index.ts'
import { FreeList } from './free-list.tsx'
import { LibraryStorage } from './library-storage.tsx'
import { SpaceNotes, SpaceParts } from './space-parts.tsx'

/** Where the space of an account goes, or that of a library. */
export default function StoragePage() {
  const { id } = useParams()
  return id === undefined ? <AccountStorage /> : <LibraryStorage key={id} libraryId={id} />
}

function AccountStorage() {
  const texts = useTexts('libraries')
  useTitle(texts.space)
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useOwnUsage()
  const sums = data?.pages[0]
  const libraries = data?.pages.flatMap((page) => page.libraries) ?? []
  // What is saved is known once all are counted as they are now.
  const isCurrent = !hasNextPage && libraries.every(({ is_current }) => is_current)
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.space}</h1>
      </div>
      <Quota />
      {sums === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {sums !== undefined && (
        <>
          <div className="storage-columns">
            <section className="card stack storage-card">
              <h2>{texts.spaceWhat}</h2>
              <SpaceParts bytes={sums} />
              <SpaceNotes
                fileSize={isCurrent ? sums.file_size : undefined}
                current={sums.current}
                shared={sums.shared}
                unreferenced={sums.unreferenced}
              />
              {sums.uncounted_repos > 0 && (
                <p className="muted" role="status">
                  {texts.spaceUncounted(sums.uncounted_repos)}
                </p>
              )}
            </section>
            <FreeList
              ways={[
                { to: '/trash', label: texts.freeTrash, bytes: sums.trash },
                { to: '/deleted', label: texts.freeDeleted, bytes: sums.deleted },
                { label: texts.freeHistory, bytes: sums.history, hint: texts.freeHistoryHint },
              ]}
            />
          </div>
          {libraries.length > 0 && <Libraries libraries={libraries} />}
          {hasNextPage && <LoadMore isBusy={isFetchingNextPage} onMore={() => void fetchNextPage()} />}
        </>
      )}
    </div>
  )
}

function Quota() {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const { data: account } = useAccount()
  if (account === undefined || account.total <= 0) return null
  const label = texts.spaceQuota(formats.size(account.usage), formats.size(account.total))
  return (
    <div className="storage-quota">
      <Progress value={account.usage / account.total} label={label} />
      <p className="muted">{label}</p>
    </div>
  )
}

function Libraries(props: { libraries: readonly OwnLibraryUsage[] }) {
  const texts = useTexts('libraries')
  const formats = useFormats()
  const most = Math.max(1, ...props.libraries.map(({ usage, file_size }) => usage?.total ?? file_size))
  return (
    <section className="stack">
      <h2>{texts.title}</h2>
      <ul className="card storage-list">
        {props.libraries.map(({ repo_id: id, repo_name: name, usage, file_size, is_current }) => (
          <li key={id}>
            <Link to={storageUrl(id)} className="storage-row" title={name}>
              <span className="storage-name">
                <bdi>{visibleName(name)}</bdi>
              </span>
              <span className="storage-size">{formats.size(usage?.total ?? file_size)}</span>
              <span className="storage-share" aria-hidden>
                <span style={{ inlineSize: `${(100 * (usage?.total ?? file_size)) / most}%` }} />
              </span>
              <span className="storage-about muted">
                {usage === undefined
                  ? texts.spaceNotCounted
                  : (is_current ? texts.spaceCounted : texts.spaceStale)(formats.moment(usage.computed_at))}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
