import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button } from './button.tsx'

/** Loads the next page when it scrolls into view, or by its button. */
export function LoadMore(props: { isBusy: boolean; onMore: () => void }) {
  const texts = useTexts('common')
  const end = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) => {
        const { isBusy, onMore } = latest.current
        if (entries.some(({ isIntersecting }) => isIntersecting) && !isBusy) onMore()
      },
      { rootMargin: '300px' },
    )
    if (end.current !== null) watcher.observe(end.current)
    return () => watcher.disconnect()
  }, [])
  return (
    <div ref={end} className="load-more">
      <Button busy={props.isBusy} onClick={props.onMore}>
        {texts.loadMore}
      </Button>
    </div>
  )
}
