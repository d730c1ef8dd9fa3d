export { preloadVisitedPage, VisitorsApp } from './visitors-app.tsx'
