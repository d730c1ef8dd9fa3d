import { ArrowLeft } from 'lucide-react'
import { Link } from 'wouter'
import { useLibraries, useLibrary, useLibraryUsage } from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { folderUrl, trashUrl, useQueryParams } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, useTitle, visibleName, Waiting } from '../ui/index.ts'
import { FreeList } from './free-list.tsx'
import { HistorySetting } from './history-setting.tsx'
import { LargestEntries } from './largest-entries.tsx'
import { UsageList } from './usage-list.tsx'

/** Where the space of a library goes. What is stored besides its files is shown to its owner. */
export function LibraryStorage({ libraryId }: { libraryId: string }) {
  const texts = useTexts('libraries')
  const path = normalizePath(useQueryParams().get('p') ?? '/')
  const { data: library, error, refetch } = useLibrary(libraryId)
  const { data: libraries } = useLibraries()
  const isOwn = libraries?.some(({ repo_id, type }) => repo_id === libraryId && type === 'mine') === true
  useTitle(library && `${texts.space} – ${library.repo_name}`)
  if (library === undefined)
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  return (
    <div className="page">
      <div className="page-head">
        <h1>
          {texts.space} – <bdi>{visibleName(library.repo_name)}</bdi>
        </h1>
      </div>
      <p className="storage-back">
        <Link to="/storage">
          <ArrowLeft size={16} aria-hidden /> {texts.space}
        </Link>
        <Link to={folderUrl(libraryId)}>{texts.inLibrary}</Link>
      </p>
      {isOwn && (
        <div className="storage-columns">
          <div className="card stack storage-card">
            <UsageList libraryId={libraryId} fileSize={library.size} />
          </div>
          <Ways libraryId={libraryId} />
        </div>
      )}
      <UnlockGate libraryId={libraryId}>
        <LargestEntries libraryId={libraryId} libraryName={library.repo_name} path={path} />
      </UnlockGate>
    </div>
  )
}

function Ways({ libraryId }: { libraryId: string }) {
  const texts = useTexts('libraries')
  const { data } = useLibraryUsage(libraryId)
  return (
    <div className="stack">
      {data?.total !== undefined && (
        <FreeList
          ways={[
            { to: trashUrl(libraryId), label: texts.freeTrash, bytes: data.trash ?? 0 },
            { label: texts.freeHistory, bytes: data.history ?? 0 },
          ]}
        />
      )}
      <div className="card storage-card">
        <HistorySetting libraryId={libraryId} />
      </div>
    </div>
  )
}
