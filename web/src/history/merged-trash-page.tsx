import './history.css'
import { Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { type MergedTrashItem, trashPath, useMergedTrash } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, LoadError, LoadMore, SearchField, useTitle, Waiting } from '../ui/index.ts'
import { TrashRow } from './trash-row.tsx'
import { useTrashRestore } from './use-trash-restore.ts'

const keyOf = (item: MergedTrashItem) => `${item.repo_id} ${item.commit_id} ${trashPath(item)}`

/** Deleted files and folders of all libraries, with restore. */
export default function MergedTrashPage() {
  const texts = useTexts('history')
  const shell = useTexts('shell')
  useTitle(texts.trash)
  const [words, setWords] = useState('')
  const query = useDeferredValue(words.trim())
  const trash = useMergedTrash(query)
  const { busy, restore } = useTrashRestore(() => undefined)
  const items = trash.data?.pages.flatMap((page) => page.items)
  return (
    <div className="page">
      <header className="page-head">
        <h1>{texts.trash}</h1>
        <ButtonLink to="/deleted">{shell.deleted}</ButtonLink>
      </header>
      <SearchField label={texts.searchTrash} value={words} onChange={setWords} />
      {items === undefined &&
        (trash.error ? <LoadError error={trash.error} onRetry={() => void trash.refetch()} /> : <Waiting />)}
      {items?.length === 0 && (
        <Empty
          icon={Trash2}
          title={query === '' ? texts.trashEmpty : texts.nothingFound}
          hint={query === '' ? texts.allTrashEmptyHint : texts.nothingFoundHint}
        />
      )}
      {items !== undefined && items.length > 0 && (
        <section className="card trash" aria-label={texts.deletedItems}>
          <ul>
            {items.map((item) => (
              <TrashRow
                key={keyOf(item)}
                libraryId={item.repo_id}
                libraryName={item.repo_name}
                item={item}
                chosen={false}
                onChoose={undefined}
                onRestore={item.can_restore && !busy ? () => void restore(item.repo_id, [item]) : undefined}
              />
            ))}
          </ul>
        </section>
      )}
      {trash.hasNextPage && (
        <LoadMore isBusy={trash.isFetchingNextPage} onMore={() => void trash.fetchNextPage()} />
      )}
    </div>
  )
}
