export {
  DeletedPage,
  HomePage,
  LibrariesPage,
  RecentPage,
  SharedPage,
  StarredPage,
  StoragePage,
} from './lazy.ts'
