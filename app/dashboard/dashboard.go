// Package dashboard is the global dashboard: the embedded page, the forwarding
// of its requests to the dashboards of instances, and what it shows besides the
// newest snapshot: history, and the instances that have ended.
//
// History is kept in memory alone. One instance costs at most 15 KiB: 180 points
// in detail, ten seconds apart or more, and 288 in outline, five minutes apart
// or more; a young one less than 1 KiB. At most 512 instances have one, which
// is 7.5 MiB altogether, and 300 of them 4.4 MiB.
//
// The routes, their guards and the wire types live in app/api, which uses this
// package. The page's own code is in page, without a build step.
package dashboard
