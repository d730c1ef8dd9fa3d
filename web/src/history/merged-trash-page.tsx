import './history.css'
import { Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useMergedTrashActions } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, LoadError, LoadMore, SearchField, useTitle, Waiting } from '../ui/index.ts'
import { TrashActionRow } from './trash-action.tsx'
import { TrashDays } from './trash-days.tsx'
import { useTrashRestore } from './use-trash-restore.ts'

/** What was deleted in all libraries, with restore. */
export default function MergedTrashPage() {
  const texts = useTexts('history')
  const shell = useTexts('shell')
  useTitle(texts.trash)
  const [typed, setTyped] = useState('')
  const words = useDeferredValue(typed.trim())
  const trash = useMergedTrashActions(words)
  const { busy, restore } = useTrashRestore(() => undefined)
  const actions = trash.data?.pages.flatMap((page) => page.actions)
  return (
    <div className="page">
      <header className="page-head">
        <h1>{texts.trash}</h1>
        <ButtonLink to="/deleted">{shell.deleted}</ButtonLink>
      </header>
      <SearchField label={texts.searchTrash} value={typed} onChange={setTyped} />
      {actions === undefined &&
        (trash.error ? <LoadError error={trash.error} onRetry={() => void trash.refetch()} /> : <Waiting />)}
      {actions?.length === 0 && (
        <Empty
          icon={Trash2}
          title={words === '' ? texts.trashEmpty : texts.nothingFound}
          hint={words === '' ? texts.allTrashEmptyHint : texts.nothingFoundHint}
        />
      )}
      <TrashDays actions={actions ?? []}>
        {(one) => {
          const part = { libraryId: one.repo_id, folder: '/', words }
          const { action } = one
          return (
            <TrashActionRow
              key={`${one.repo_id} ${action}`}
              part={part}
              libraryName={one.repo_name}
              action={one}
              selection={new Map()}
              onSelect={undefined}
              onRestore={
                one.can_restore && !busy ? (some) => void restore(part, [{ action, part: some }]) : undefined
              }
            />
          )
        }}
      </TrashDays>
      {trash.hasNextPage && (
        <LoadMore isBusy={trash.isFetchingNextPage} onMore={() => void trash.fetchNextPage()} />
      )}
    </div>
  )
}
