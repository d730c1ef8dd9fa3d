import './libraries.css'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Redirect, useSearchParams } from 'wouter'
import { useLibraries } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, useTitle, Waiting } from '../ui/index.ts'
import { NoLibraries } from './empty-list.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LazyNewLibraryDialog } from './lazy.ts'
import { LibraryDrop } from './library-drop.tsx'
import { LibraryLists } from './library-lists.tsx'

/** The libraries of the user. Those of others are on the page of what is shared. */
export default function LibrariesPage() {
  const texts = useTexts('libraries')
  useTitle(texts.title)
  const { data, error, refetch } = useLibraries()
  const [params] = useSearchParams()
  const [isMaking, setMaking] = useState(false)
  const own = data?.filter(({ type }) => type === 'mine')
  // The address of a tab of an earlier version.
  if (params.has('show')) return <Redirect to="/shared" replace />
  return (
    <LibraryDrop libraries={data}>
      <div className="page">
        <div className="page-head">
          <h1>{texts.title}</h1>
          <Button variant="primary" icon={Plus} onClick={() => setMaking(true)}>
            {texts.newLibrary}
          </Button>
        </div>
        {own === undefined &&
          (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
        {own?.length === 0 && (
          <>
            <FirstSteps />
            <NoLibraries onMake={() => setMaking(true)} />
          </>
        )}
        {own !== undefined && own.length > 0 && <LibraryLists libraries={own} />}
        {isMaking && (
          <Suspense>
            <LazyNewLibraryDialog onClose={() => setMaking(false)} />
          </Suspense>
        )}
      </div>
    </LibraryDrop>
  )
}
