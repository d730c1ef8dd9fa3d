import './history.css'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useParams } from 'wouter'
import { canEdit, type TrashItem, trashPath, useAccount, useLibrary, useTrash } from '../api/index.ts'
import { UnlockGate } from '../encryption/index.ts'
import { folderUrl, trashUrl, useQueryParams } from '../navigation/index.ts'
import { nameOf, normalizePath } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  ButtonLink,
  CheckField,
  Empty,
  LoadError,
  SearchField,
  useTitle,
  Waiting,
} from '../ui/index.ts'
import { EmptyTrashDialog } from './empty-trash-dialog.tsx'
import { KeptHistory } from './library-history.tsx'
import { TrashRow } from './trash-row.tsx'
import { useTrashRestore } from './use-trash-restore.ts'

export default function TrashPage() {
  const { id = '' } = useParams()
  const folder = normalizePath(useQueryParams().get('p') ?? '')
  return (
    <UnlockGate libraryId={id}>
      <Trash key={`${id}${folder}`} libraryId={id} folder={folder} />
    </UnlockGate>
  )
}

const keyOf = (item: TrashItem) => `${item.commit_id} ${trashPath(item)}`

/** Deleted entries of a library or a folder, with restore. */
function Trash({ libraryId, folder }: { libraryId: string; folder: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const [words, setWords] = useState('')
  const query = useDeferredValue(words.trim())
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [emptying, setEmptying] = useState(false)
  const [isLoadingAll, setLoadingAll] = useState(false)
  const library = useLibrary(libraryId)
  const { data: account } = useAccount()
  useTitle(library.data && `${texts.trashOf} ${library.data.repo_name}`)
  const trash = useTrash(libraryId, folder, query)
  const { busy, restore } = useTrashRestore(() => setChosen(new Set()))
  const error = library.error ?? trash.error
  if (error) return <LoadError error={error} onRetry={() => void trash.refetch()} />
  const items = trash.data?.pages.flatMap((page) => page.items)
  const picked = items?.filter((item) => chosen.has(keyOf(item))) ?? []
  const isAll = picked.length === items?.length && !trash.hasNextPage
  const detail = library.data
  const mayRestore = detail !== undefined && canEdit(detail)
  const mayEmpty =
    detail !== undefined && !detail.is_virtual && (detail.is_admin || detail.owner_email === account?.email)
  // Only a part of the items is loaded at first. All of them are to be chosen.
  async function chooseAll(): Promise<void> {
    let { data, hasNextPage } = trash
    setLoadingAll(true)
    while (hasNextPage) {
      const next = await trash.fetchNextPage()
      if (next.isError) break
      ;({ data, hasNextPage } = next)
    }
    setLoadingAll(false)
    setChosen(new Set(data?.pages.flatMap((page) => page.items).map(keyOf)))
  }
  const toggle = (item: TrashItem) => {
    const next = new Set(chosen)
    if (!next.delete(keyOf(item))) next.add(keyOf(item))
    setChosen(next)
  }
  return (
    <div className="page">
      <header className="page-head">
        <h1>
          {texts.trashOf} <bdi>{folder === '/' ? detail?.repo_name : nameOf(folder)}</bdi>
        </h1>
        {mayEmpty && (
          <Button icon={Trash2} disabled={!items?.length && query === ''} onClick={() => setEmptying(true)}>
            {texts.emptyTrash}
          </Button>
        )}
        <ButtonLink to={folderUrl(libraryId, folder)}>{texts.toLibrary}</ButtonLink>
      </header>
      <KeptHistory libraryId={libraryId} />
      {folder === '/' ? (
        <SearchField label={texts.searchTrash} value={words} onChange={setWords} />
      ) : (
        <ButtonLink variant="quiet" className="trash-whole" to={trashUrl(libraryId)}>
          {texts.wholeTrash}
        </ButtonLink>
      )}
      {items === undefined && <Waiting />}
      {items?.length === 0 && (
        <Empty
          icon={Trash2}
          title={query === '' ? texts.trashEmpty : texts.nothingFound}
          hint={query === '' ? texts.trashEmptyHint : texts.nothingFoundHint}
        />
      )}
      {items !== undefined && items.length > 0 && (
        <section className="card trash" aria-label={texts.deletedItems}>
          {mayRestore && (
            <div className="trash-bar">
              <CheckField
                label={picked.length === 0 ? texts.chooseAll : texts.chosen(picked.length)}
                checked={isAll}
                disabled={isLoadingAll}
                onChange={() => (isAll ? setChosen(new Set()) : void chooseAll())}
              />
              <Button
                variant="primary"
                icon={RotateCcw}
                busy={busy}
                disabled={picked.length === 0}
                onClick={() => void restore(libraryId, picked)}
              >
                {common.restore}
              </Button>
            </div>
          )}
          <ul>
            {items.map((item) => (
              <TrashRow
                key={keyOf(item)}
                libraryId={libraryId}
                item={item}
                chosen={chosen.has(keyOf(item))}
                onChoose={mayRestore ? () => toggle(item) : undefined}
                onRestore={mayRestore ? () => void restore(libraryId, [item]) : undefined}
              />
            ))}
          </ul>
        </section>
      )}
      {trash.hasNextPage && (
        <Button busy={trash.isFetchingNextPage} onClick={() => void trash.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {emptying && <EmptyTrashDialog libraryId={libraryId} onClose={() => setEmptying(false)} />}
    </div>
  )
}
