//! The bundled plugins, loaded by the real loader once per process.

use std::path::Path;
use std::sync::Arc;

use divvy_controller::engine::ActiveProfile;
use divvy_judge::steps::Allowances;
use divvy_loader::PluginDirectories;
use divvy_profile::ProfileSource;
use divvy_scheduler::profile::ConfiguredProfile;
use divvy_scheduler::profile::registry;

use crate::error::Error;
use crate::script::{MOVES, ProfileName};

/// Two bindings are a burst.
const JOINTLY: &str = "[profile.jointly]\nwaiting = 2\n";

/// The profiles that lives choose from.
pub(crate) struct Profiles {
    default: ActiveProfile,
    karmada: ActiveProfile,
    jointly: ActiveProfile,
    /// In the order of [`MOVES`].
    moves: Vec<ActiveProfile>,
}

impl Profiles {
    /// Loads the plugins of a folder.
    pub(crate) fn load(plugins: &Path) -> Result<Self, Error> {
        let directories = PluginDirectories::new([plugins.to_owned()]);
        let load = |name: ProfileName| {
            let lines = match name {
                ProfileName::Jointly => JOINTLY.to_owned(),
                name => name.moves().map(Allowances::lines).unwrap_or_default(),
            };
            let text = format!("[[profile]]\nname = 'simulated'\nextends = '{}'\n{lines}", name.base());
            let source = ProfileSource::parse("simulated.toml".into(), &text);
            let configuration = source
                .profile(None)
                .map_err(|error| Error::Profile(error.to_string()))?;
            let profile = registry::build(&configuration, &directories).map_err(|errors| {
                let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Error::Profile(messages.join("\n"))
            })?;
            Ok(ActiveProfile::new(Arc::new(profile), &configuration).expect("the configuration is JSON"))
        };
        Ok(Self {
            default: load(ProfileName::Default)?,
            karmada: load(ProfileName::Karmada)?,
            jointly: load(ProfileName::Jointly)?,
            moves: (0..MOVES.len())
                .map(|index| load(ProfileName::Moves(index)))
                .collect::<Result<_, Error>>()?,
        })
    }

    fn get(&self, name: ProfileName) -> &ActiveProfile {
        match name {
            ProfileName::Default => &self.default,
            ProfileName::Karmada => &self.karmada,
            ProfileName::Jointly => &self.jointly,
            ProfileName::Moves(index) => &self.moves[index],
        }
    }

    /// A profile as an engine takes it.
    pub(crate) fn active(&self, name: ProfileName) -> ActiveProfile {
        self.get(name).clone()
    }

    /// A profile as a forecast takes it.
    pub(crate) fn side(&self, name: ProfileName) -> ConfiguredProfile {
        ConfiguredProfile::clone(self.get(name))
    }
}
