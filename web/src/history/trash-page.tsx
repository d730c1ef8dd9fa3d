import './history.css'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useParams } from 'wouter'
import { folderAddress, trashAddress } from '../addresses.ts'
import { useAccount } from '../api/account.ts'
import { canEdit, useLibrary } from '../api/libraries.ts'
import { type TrashItem, trashPath, useTrash } from '../api/trash.ts'
import { Unlocked } from '../libraries/unlocked.tsx'
import { cleaned, nameOf } from '../paths.ts'
import { useQueryParams } from '../query-params.ts'
import { useTexts } from '../texts/texts.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Failed } from '../ui/failed.tsx'
import { CheckField } from '../ui/field.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Empty, Waiting } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { EmptyTrashDialog } from './empty-trash-dialog.tsx'
import { Kept } from './library-history.tsx'
import { TrashRow } from './trash-row.tsx'
import { useRestoring } from './use-restoring.ts'

export default function TrashPage() {
  const { id = '' } = useParams()
  const folder = cleaned(useQueryParams().get('p') ?? '')
  return (
    <Unlocked libraryId={id}>
      <Trash key={`${id}${folder}`} libraryId={id} folder={folder} />
    </Unlocked>
  )
}

const keyOf = (item: TrashItem) => `${item.commit_id} ${trashPath(item)}`

/** What was deleted from a library, or from one of its folders, and the way back. */
function Trash({ libraryId, folder }: { libraryId: string; folder: string }) {
  const texts = useTexts('history')
  const common = useTexts('common')
  const [words, setWords] = useState('')
  const sought = useDeferredValue(words.trim())
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [emptying, setEmptying] = useState(false)
  const library = useLibrary(libraryId)
  const { data: account } = useAccount()
  useTitle(library.data && `${texts.trashOf} ${library.data.repo_name}`)
  const trash = useTrash(libraryId, folder, sought)
  const { busy, restore } = useRestoring(libraryId, () => setChosen(new Set()))
  const error = library.error ?? trash.error
  if (error) return <Failed error={error} onRetry={() => void trash.refetch()} />
  const items = trash.data?.pages.flatMap((page) => page.items)
  const picked = items?.filter((item) => chosen.has(keyOf(item))) ?? []
  const detail = library.data
  const mayRestore = detail !== undefined && canEdit(detail)
  const mayEmpty =
    detail !== undefined && !detail.is_virtual && (detail.is_admin || detail.owner_email === account?.email)
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
          <Button icon={Trash2} disabled={!items?.length && sought === ''} onClick={() => setEmptying(true)}>
            {texts.emptyTrash}
          </Button>
        )}
        <ButtonLink to={folderAddress(libraryId, folder)}>{texts.toLibrary}</ButtonLink>
      </header>
      <Kept libraryId={libraryId} />
      {folder === '/' ? (
        <SearchField label={texts.searchTrash} value={words} onChange={setWords} />
      ) : (
        <ButtonLink variant="quiet" className="trash-whole" to={trashAddress(libraryId)}>
          {texts.wholeTrash}
        </ButtonLink>
      )}
      {items === undefined && <Waiting />}
      {items?.length === 0 && (
        <Empty
          icon={Trash2}
          title={sought === '' ? texts.trashEmpty : texts.nothingFound}
          hint={sought === '' ? texts.trashEmptyHint : texts.nothingFoundHint}
        />
      )}
      {items !== undefined && items.length > 0 && (
        <section className="card trash" aria-label={texts.deletedItems}>
          {mayRestore && (
            <div className="trash-bar">
              <CheckField
                label={picked.length === 0 ? texts.chooseAll : texts.chosen(picked.length)}
                checked={picked.length === items.length}
                onChange={() => setChosen(new Set(picked.length === items.length ? [] : items.map(keyOf)))}
              />
              <Button
                variant="primary"
                icon={RotateCcw}
                busy={busy}
                disabled={picked.length === 0}
                onClick={() => void restore(picked)}
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
                onRestore={mayRestore ? () => void restore([item]) : undefined}
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
