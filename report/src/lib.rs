//! What the passes did, for a person to see: the diff that each one makes, the remarks that they emit, their pages, and a
//! report of all of it as one HTML page.
//!
//! Only watches: nothing here changes IR. `tinymlir-opt`'s own flags are here too ([`opt_main`]).

mod costs;
mod diff;
mod explain;
pub mod files;
mod help;
mod kernels;
mod opt;
mod page;
mod picture;
mod plan;
mod ptxas;
mod record;
mod reduction;
mod remarks;
mod rows;
mod state;
mod suggest;
mod terminal;
mod times;
mod watch;

pub use explain::explain;
pub use opt::{FLAGS, lsp_server_main, opt_main, reduce_main};
pub use page::{Event, Run, Subject};
pub use remarks::RemarkStyle;
pub use suggest::did_you_mean;
pub use watch::{Show, Watch};
